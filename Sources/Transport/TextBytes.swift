/// Builds UTF-8 text from many parts, each of which costs only a copy of its bytes.
package struct TextBytes: ~Copyable {
    // Manually allocated, because an array would check for unique ownership at each append.
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

    /// The text that a closure builds. Short text is built on the stack.
    package static func making(_ write: (_ text: inout TextBytes) -> Void) -> String {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1_024) { memory in
            guard let start = memory.baseAddress else { return "" }
            var text = TextBytes(borrowing: start, capacity: memory.count)
            write(&text)
            return text.text
        }
    }

    /// The text built so far.
    package var text: String {
        let bytes = UnsafeBufferPointer(start: start, count: count)
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
            return String(decoding: bytes, as: UTF8.self)
        }
        // Only whole strings were appended, so the bytes are valid UTF-8. Validating them would take as long as everything
        // else.
        var text = UTF8Span(unchecked: bytes.span)
        _ = text.checkForASCII()
        return String(copying: text)
    }

    /// Appends text unchanged.
    package mutating func append(_ text: String) {
        // Reads the string's storage in place. Retaining it is an atomic operation, and a log entry would need dozens.
        if text.utf8.withContiguousStorageIfAvailable({ append($0) }) == nil { append(Array(text.utf8)) }
    }

    /// Appends a literal.
    package mutating func append(literal text: StaticString) {
        text.withUTF8Buffer { append($0) }
    }

    /// Appends untrusted text, made safe for one line: see ``PrintableText/line(_:)``.
    package mutating func append(line text: String) {
        let isPlain = text.utf8.withContiguousStorageIfAvailable { utf8 in
            let isPlain = PrintableText.isPlain(utf8)
            if isPlain { append(utf8) }
            return isPlain
        }
        if isPlain != true { append(PrintableText.line(text)) }
    }

    /// Appends a number in decimal digits.
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
