internal import InterceptorsSyntax

/// A member of a list of preferences, such as `de;q=0.8` (RFC 9110 §12.4.2).
struct WeightedMember: Equatable {
    /// The preference in lower case, without white space.
    let name: String
    /// From 0 to 1; 1 by default.
    let weight: Double

    /// The canonical form: members with the same meaning have the same text.
    var text: String { weight == 1 ? name : "\(name);q=\(weight)" }

    /// Returns `nil` if the member has another parameter than a valid weight.
    init?(_ member: String) {
        let parts = Self.plain(member).split(separator: ";", omittingEmptySubsequences: false)
        guard let name = parts.first, !name.isEmpty, parts.count <= 2 else { return nil }
        self.name = String(name)
        guard parts.count == 2 else {
            weight = 1
            return
        }
        let number = parts[1].dropFirst(2)
        // "0" or "1", and up to three digits after a point.
        guard parts[1].hasPrefix("q="), number.first == "0" || number.first == "1", number.utf8.count <= 5,
            number.utf8.count == 1 || number.dropFirst().first == ".",
            number.utf8.dropFirst(2).allSatisfy(ASCII.isDigit), let weight = Double(number), weight <= 1
        else { return nil }
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
}
