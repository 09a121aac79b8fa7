internal import Interceptors

/// Appends numbers and texts to bytes, in the form that ``JournalReader`` reads.
struct JournalBytes {
    private(set) var bytes: [UInt8] = []

    var count: Int { bytes.count }

    mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

    /// Gives back the memory that growth has left unused.
    mutating func trim() {
        if bytes.capacity > bytes.count + 32 { bytes = Array(unsafeUninitializedCapacity: bytes.count, copying: bytes) }
    }

    mutating func append(_ byte: UInt8) { bytes.append(byte) }

    /// Appends a number: seven bits a byte, lowest first.
    mutating func append(number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    mutating func append(number: Int) { append(number: UInt64(truncatingIfNeeded: number)) }

    /// Appends a number that may be negative; small magnitudes take few bytes.
    mutating func append(signed number: Int64) {
        append(number: UInt64(bitPattern: (number << 1) ^ (number >> 63)))
    }

    mutating func append(text: String) {
        var text = text
        text.withUTF8 { utf8 in
            append(number: utf8.count)
            bytes.append(contentsOf: utf8)
        }
    }
}

extension [UInt8] {
    fileprivate init(unsafeUninitializedCapacity count: Int, copying bytes: [UInt8]) {
        self.init(unsafeUninitializedCapacity: count) { target, initialized in
            initialized = target.initialize(from: bytes).index
        }
    }
}

/// Reads what ``JournalBytes`` wrote. Reading beyond the end gives zeros and empty texts.
struct JournalReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position >= bytes.count }

    mutating func byte() -> UInt8 {
        guard position < bytes.count else { return 0 }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func number() -> UInt64 {
        var number: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let next = byte()
            number |= UInt64(next & 0x7F) << shift
            shift += 7
            if next < 0x80 || shift > 63 { return number }
        }
    }

    mutating func int() -> Int { Int(truncatingIfNeeded: number()) }

    mutating func signed() -> Int64 {
        let number = number()
        return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
    }

    mutating func text() -> String {
        let count = min(max(0, int()), bytes.count - position)
        defer { position += count }
        return String(decoding: bytes[position..<(position + count)], as: UTF8.self)
    }
}
