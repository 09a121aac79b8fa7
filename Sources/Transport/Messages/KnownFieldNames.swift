/// Names that most responses carry, as HTTP/1.1 and HTTP/2 spell them: they are found again by their bytes, which takes less
/// than to make them anew for each response.
struct KnownFieldNames {
    static let shared = KnownFieldNames()

    /// A name of at most 16 bytes: these, and how many there are.
    private struct Key: Equatable {
        let low: UInt64
        let high: UInt64
        let count: Int

        init?(_ bytes: UnsafeRawBufferPointer) {
            count = bytes.count
            switch count {
            case 8...16:
                low = bytes.loadUnaligned(as: UInt64.self)
                high = bytes.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
            case 3..<8:
                // Each byte is in one of the two, so that no other name of the length has the same.
                low = UInt64(bytes.loadUnaligned(as: UInt16.self)) << 8 | UInt64(bytes[2])
                high = bytes[3...].reduce(0) { $0 << 8 | UInt64($1) }
            default: return nil
            }
        }

        var place: Int {
            let mixed = (low ^ high &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(count)) &* 0xD6E8_FEB8_6659_FD93
            return Int(truncatingIfNeeded: mixed >> 56)
        }
    }

    private static let places = 256
    private var slots: [(key: Key, name: HTTPField.Name)?] = Array(repeating: nil, count: places)

    private init() {
        let names: [HTTPField.Name] = [
            .acceptRanges, .age, .allow, .cacheControl, .connection, .contentEncoding, .contentLanguage, .contentLength,
            .contentRange, .contentType, .date, .eTag, .expires, .keepAlive, .lastModified, .link, .location, .pragma,
            .retryAfter, .server, .setCookie, .trailer, .transactionID, .vary, .via,
        ]
        for name in names {
            insert(name)
            insert(HTTPField.Name(unchecked: name.rawName.lowercased()))
        }
    }

    private mutating func insert(_ name: HTTPField.Name) {
        var spelling = name.rawName
        guard let key = spelling.withUTF8({ Key(UnsafeRawBufferPointer($0)) }) else { return }
        var place = key.place
        while slots[place] != nil { place = (place + 1) % Self.places }
        slots[place] = (key, name)
    }

    /// The name that is spelled so, if it is one of them.
    func name(spelled bytes: UnsafeBufferPointer<UInt8>) -> HTTPField.Name? {
        guard let key = Key(UnsafeRawBufferPointer(bytes)) else { return nil }
        var place = key.place
        while let slot = slots[place] {
            if slot.key == key { return slot.name }
            place = (place + 1) % Self.places
        }
        return nil
    }
}
