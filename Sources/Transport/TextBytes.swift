/// Text in the making, in UTF-8: of many parts, each of which costs a copy of its bytes and no more.
package struct TextBytes: ~Copyable {
    // Memory of its own: an array would ask at each part whether somebody else holds it.
    private var memory: UnsafeMutableBufferPointer<UInt8>
    private var count = 0

    package init(capacity: Int) {
        memory = .allocate(capacity: max(16, capacity))
    }

    deinit { memory.deallocate() }

    /// What has been put together.
    package var text: String { String(decoding: UnsafeBufferPointer(rebasing: memory[..<count]), as: UTF8.self) }

    /// Adds text as it is.
    package mutating func append(_ text: String) {
        // Where it lies, without holding it anew: that is an atomic step, of which a log entry would take dozens.
        if text.utf8.withContiguousStorageIfAvailable({ append($0) }) == nil { append(Array(text.utf8)) }
    }

    /// Adds text that was written by somebody else, fit for one line: see ``PrintableText/line(_:)``.
    package mutating func append(line text: String) {
        let isPlain = text.utf8.withContiguousStorageIfAvailable { utf8 in
            let isPlain = PrintableText.isPlain(utf8)
            if isPlain { append(utf8) }
            return isPlain
        }
        if isPlain != true { append(PrintableText.line(text)) }
    }

    /// Adds a number's decimal digits.
    package mutating func append(_ number: UInt64) {
        var divisor: UInt64 = 1
        while number / divisor >= 10 { divisor *= 10 }
        makeRoom(for: 20)
        while divisor > 0 {
            memory.initializeElement(at: count, to: UInt8(ascii: "0") + UInt8(number / divisor % 10))
            count += 1
            divisor /= 10
        }
    }

    private mutating func append(_ utf8: [UInt8]) { utf8.withUnsafeBufferPointer { append($0) } }

    private mutating func append(_ utf8: UnsafeBufferPointer<UInt8>) {
        makeRoom(for: utf8.count)
        _ = UnsafeMutableBufferPointer(rebasing: memory[count...]).initialize(fromContentsOf: utf8)
        count += utf8.count
    }

    private mutating func makeRoom(for more: Int) {
        guard memory.count - count < more else { return }
        let larger = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(2 * memory.count, count + more))
        _ = larger.initialize(fromContentsOf: memory[..<count])
        memory.deallocate()
        memory = larger
    }
}
