extension [UInt8] {
    /// The bytes with each `%` and two hexadecimal digits replaced by the byte they encode (RFC 3986 §2.1). Any other `%` is
    /// kept.
    var percentDecoded: [UInt8] {
        guard contains(UInt8(ascii: "%")) else { return self }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(count)
        var index = 0
        while index < count {
            if self[index] == UInt8(ascii: "%"), index + 2 < count,
                let high = ASCII.hexadecimalValue(self[index + 1]), let low = ASCII.hexadecimalValue(self[index + 2])
            {
                decoded.append(high << 4 | low)
                index += 3
            } else {
                decoded.append(self[index])
                index += 1
            }
        }
        return decoded
    }

    /// The bytes decoded repeatedly until nothing changes, because names may be encoded more than once.
    var percentDecodedFully: [UInt8] {
        var decoded = self
        // Each pass shortens the text. A text that needs more than eight passes is no name.
        for _ in 0..<8 {
            let next = decoded.percentDecoded
            guard next.count < decoded.count else { break }
            decoded = next
        }
        return decoded
    }
}
