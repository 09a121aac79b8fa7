internal import InterceptorsArchives

/// Where two JSON values differ.
enum JSONDifference {
    /// The path of the first difference, such as `items[2].name`, and the values there; `nil` if the values are equal.
    static func first(
        _ recorded: OrderedJSON,
        _ sent: OrderedJSON,
        at path: String = ""
    ) -> (path: String, recorded: String?, sent: String?)? {
        switch (recorded, sent) {
        case (.object(let one), .object(let other)):
            // By bytes, as in the comparison: Swift takes strings with combined and with separate accents for equal.
            let groups = [one, other].map { Dictionary(grouping: $0) { Array($0.name.utf8) } }
            var seen: Set<[UInt8]> = []
            for name in (one + other).map({ $0.name }) where seen.insert(Array(name.utf8)).inserted {
                let (left, right) = (groups[0][Array(name.utf8)] ?? [], groups[1][Array(name.utf8)] ?? [])
                let inner = path.isEmpty ? name : "\(path).\(name)"
                for index in 0..<max(left.count, right.count) {
                    guard index < left.count, index < right.count else {
                        return (
                            inner, left.dropFirst(index).first?.value.summary,
                            right.dropFirst(index).first?.value.summary
                        )
                    }
                    if let found = first(left[index].value, right[index].value, at: inner) { return found }
                }
            }
            return nil
        case (.array(let one), .array(let other)):
            for index in 0..<max(one.count, other.count) {
                let inner = "\(path)[\(index)]"
                guard index < one.count, index < other.count else {
                    return (inner, one.dropFirst(index).first?.summary, other.dropFirst(index).first?.summary)
                }
                if let found = first(one[index], other[index], at: inner) { return found }
            }
            return nil
        default:
            var (left, right) = (CanonicalBytes(), CanonicalBytes())
            recorded.append(to: &left)
            sent.append(to: &right)
            return left.bytes == right.bytes ? nil : (path, recorded.summary, sent.summary)
        }
    }
}

extension OrderedJSON {
    /// The value in a few words.
    fileprivate var summary: String {
        switch self {
        case .object(let members): "an object with \(members.count) members"
        case .array(let elements): "an array with \(elements.count) elements"
        case .string(let text): RequestDifference.quoted(text)
        case .number(let text): text
        case .bool(let value): value ? "true" : "false"
        case .null: "null"
        }
    }
}
