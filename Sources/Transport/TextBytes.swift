/// Text in the making, in UTF-8: of many parts, each of which costs a copy of its bytes and no more.
package struct TextBytes: ~Copyable {
    // Memory of its own: an array would ask at each part whether somebody else holds it.
    private var start: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private var count = 0
    private var isOwner: Bool

    package init(capacity: Int) {
        self.capacity = max(16, capacity)
        start = .allocate(capacity: self.capacity)
        isOwner = true
    }

    private init(borrowing start: UnsafeMutablePointer<UInt8>, capacity: Int) {
        self.start = start
        self.capacity = capacity
        isOwner = false
    }

    deinit {
        if isOwner { start.deallocate() }
    }

    /// The text that a closure puts together: on the stack, as long as it is short.
    package static func making(_ write: (_ text: inout TextBytes) -> Void) -> String {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1_024) { memory in
            guard let start = memory.baseAddress else { return "" }
            var text = TextBytes(borrowing: start, capacity: memory.count)
            write(&text)
            return text.text
        }
    }

    /// What has been put together.
    package var text: String {
        let bytes = UnsafeBufferPointer(start: start, count: count)
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
            return String(decoding: bytes, as: UTF8.self)
        }
        // All that was added were whole texts: to look for what is not UTF-8 would take as long as all else.
        var text = UTF8Span(unchecked: bytes.span)
        _ = text.checkForASCII()
        return String(copying: text)
    }

    /// Adds text as it is.
    package mutating func append(_ text: String) {
        // Where it lies, without holding it anew: that is an atomic step, of which a log entry would take dozens.
        if text.utf8.withContiguousStorageIfAvailable({ append($0) }) == nil { append(Array(text.utf8)) }
    }

    /// Adds text that is written in code.
    package mutating func append(literal text: StaticString) {
        text.withUTF8Buffer { append($0) }
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
        makeRoom(for: 20)
        var end = count + 1
        var rest = number
        while rest >= 10 {
            rest /= 10
            end += 1
        }
        count = end
        rest = number
        repeat {
            end -= 1
            (start + end).initialize(to: UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        } while rest > 0
    }

    private mutating func append(_ utf8: [UInt8]) { utf8.withUnsafeBufferPointer { append($0) } }

    @inline(__always)
    private mutating func append(_ utf8: UnsafeBufferPointer<UInt8>) {
        makeRoom(for: utf8.count)
        if let source = utf8.baseAddress { (start + count).initialize(from: source, count: utf8.count) }
        count += utf8.count
    }

    @inline(__always)
    private mutating func makeRoom(for more: Int) {
        if capacity - count < more { grow(by: more) }
    }

    private mutating func grow(by more: Int) {
        capacity = max(2 * capacity, count + more)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        larger.initialize(from: start, count: count)
        if isOwner { start.deallocate() }
        start = larger
        isOwner = true
    }
}
