/// The usual field names of up to 16 bytes, in their HTTP/1.1 and HTTP/2 spellings. Finding a name by its bytes costs less than
/// creating it for each response.
struct KnownFieldNames {
    static let shared = KnownFieldNames()

    /// The bytes of a name of 3 to 16 bytes, packed into two words, and their count.
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
                // Every byte is in `low` or `high`, so no other name of the same length has the same key.
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
        for name in UsualFieldNames.shared.all {
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

    /// The known name with exactly this spelling, if any.
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
