/// A member of a list of preferences, such as `de;q=0.8` (RFC 9110 §12.4.2).
struct WeightedMember: Equatable {
    /// The preference in lower case, without white space.
    let name: String
    /// The weight in thousandths; 1000 by default.
    let weight: Int

    /// The canonical form: members with the same meaning have the same text.
    var text: String {
        if weight == 1000 { return name }
        var digits = String(1000 + weight).dropFirst()
        while digits.last == "0" { digits = digits.dropLast() }
        return name + ";q=0" + (digits.isEmpty ? "" : "." + digits)
    }

    /// Returns `nil` if the member has another parameter than a valid weight.
    init?(_ member: String) {
        let parts = Self.plain(member).split(separator: ";", omittingEmptySubsequences: false)
        guard let name = parts.first, !name.isEmpty, parts.count <= 2 else { return nil }
        self.name = String(name)
        guard parts.count == 2 else {
            weight = 1000
            return
        }
        guard parts[1].hasPrefix("q="), let weight = Self.thousandths(parts[1].dropFirst(2)) else { return nil }
        self.weight = weight
    }

    /// The members in descending order of weight; equal weights keep their order. If a member can't be parsed, all members
    /// keep their order.
    static func inOrder(_ members: [String]) -> [String] {
        let weighted = members.compactMap { WeightedMember($0) }
        guard weighted.count == members.count else { return members.map(plain) }
        return weighted.enumerated().sorted { left, right in
            (right.element.weight, left.offset) < (left.element.weight, right.offset)
        }.map(\.element.text)
    }

    private static func plain(_ member: String) -> String {
        member.lowercased().filter { $0 != " " && $0 != "\t" }
    }

    // "0" or "1", and up to three digits after a point; after "1" all of them are zeros.
    private static func thousandths(_ text: Substring) -> Int? {
        let bytes = Array(text.utf8)
        guard let first = bytes.first, first == UInt8(ascii: "0") || first == UInt8(ascii: "1"), bytes.count <= 5,
            bytes.count == 1 || bytes[1] == UInt8(ascii: ".")
        else { return nil }
        var fraction = 0
        for index in 2..<5 {
            let digit = index < bytes.count ? bytes[index] &- UInt8(ascii: "0") : 0
            guard digit < 10 else { return nil }
            fraction = fraction * 10 + Int(digit)
        }
        let weight = (first == UInt8(ascii: "1") ? 1000 : 0) + fraction
        return weight <= 1000 ? weight : nil
    }
}
