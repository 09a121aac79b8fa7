/// The links of `Link` fields (RFC 8288 §3).
package enum LinkField {
    /// The target of the first link with a relation type, such as `next`, in the form in which the field has it.
    ///
    /// Members that break the grammar are skipped up to the next comma. Relation types are compared without case (§3.3); of
    /// several `rel` parameters only the first counts.
    package static func target(of relation: String, in values: [String]) -> String? {
        for value in values {
            var cursor = FieldCursor(value)
            while !cursor.isAtEnd {
                if let link = link(&cursor), link.relations.contains(relation.lowercased()) { return link.target }
                _ = cursor.takeWhile { $0 != UInt8(ascii: ",") }
                cursor.advance()
            }
        }
        return nil
    }

    private static func link(_ cursor: inout FieldCursor) -> (target: String, relations: [String])? {
        cursor.skipWhitespace()
        guard cursor.take("<") else { return nil }
        let target = String(decoding: cursor.takeWhile { $0 != UInt8(ascii: ">") }, as: UTF8.self)
        guard cursor.take(">") else { return nil }
        var relations: [String]?
        var isOfOther = false
        cursor.skipWhitespace()
        while cursor.take(";") {
            cursor.skipWhitespace()
            let name = cursor.takeLowercasedToken()
            cursor.skipWhitespace()
            var value: String?
            if cursor.take("=") {
                cursor.skipWhitespace()
                value = text(&cursor)
                cursor.skipWhitespace()
            }
            // Another resource than the response's has this link (§3.2).
            if name == "anchor" { isOfOther = true }
            if name == "rel", relations == nil {
                relations = (value ?? "").lowercased().split(separator: " ").map(String.init)
            }
        }
        return (target, isOfOther ? [] : relations ?? [])
    }

    private static func text(_ cursor: inout FieldCursor) -> String {
        let bytes = cursor.takeQuotedString() ?? cursor.takeToken()
        return String(decoding: bytes, as: UTF8.self)
    }
}
