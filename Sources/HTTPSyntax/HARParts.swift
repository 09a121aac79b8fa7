internal import Foundation

/// Parts of an HTTP Archive that every writer of archives needs.
package enum HARParts {
    /// The comment on content of which a journal kept only the beginning.
    package static let cutContent = "Only the beginning of the content"

    /// A name and a value, as in the lists of headers, parameters and queries.
    package static func record(_ name: String, _ value: String) -> OrderedJSON {
        ["name": .string(name), "value": .string(value)]
    }

    /// The parameters of a URL's query, decoded.
    package static func queryString(of url: String) -> OrderedJSON {
        guard let query = url.prefix(while: { $0 != "#" }).split(separator: "?", maxSplits: 1).dropFirst().first else {
            return []
        }
        return pairs(of: query)
    }

    /// The pairs of a form or a query, decoded.
    package static func pairs(of form: Substring) -> OrderedJSON {
        .array(
            form.split(separator: "&").map { pair in
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { part in
                    let spaced = String(part.replacing("+", with: " "))
                    return spaced.removingPercentEncoding ?? spaced
                }
                return record(parts[0], parts.count > 1 ? parts[1] : "")
            }
        )
    }

    /// The cookies of the values of `Cookie` (RFC 6265 §4.2.1).
    package static func cookies(in values: [String]) -> OrderedJSON {
        .array(
            values.flatMap { value in
                value.split(separator: ";").compactMap { pair in nameAndValue(pair).map { record($0, $1) } }
            }
        )
    }

    /// The cookies of the values of `Set-Cookie` (RFC 6265 §4.1.1).
    package static func setCookies(in values: [String]) -> OrderedJSON { .array(values.compactMap(setCookie)) }

    private static func setCookie(_ value: String) -> OrderedJSON? {
        let parts = value.split(separator: ";", omittingEmptySubsequences: false)
        guard let (name, value) = parts.first.flatMap(nameAndValue) else { return nil }
        let attributes = parts.dropFirst().map { part in
            nameAndValue(part) ?? (part.trimmingCharacters(in: .whitespaces), "")
        }
        func attribute(_ name: String) -> String? { attributes.last { $0.0.lowercased() == name }?.1 }
        // A year with two digits is the one that is nearest to this fixed date; no server sends one today.
        let expires = attribute("expires").flatMap { HTTPDate.parse($0, now: 1_700_000_000) }
        return [
            "name": .string(name),
            "value": .string(value),
            "path": attribute("path").map { .string($0) },
            "domain": attribute("domain").map { .string($0) },
            "expires": expires.map { .string(HARDate.text(microseconds: $0 * 1_000_000)) },
            "httpOnly": .bool(attribute("httponly") != nil),
            "secure": .bool(attribute("secure") != nil),
        ]
    }

    private static func nameAndValue(_ pair: Substring) -> (String, String)? {
        let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let (name, value) = (
            parts[0].trimmingCharacters(in: .whitespaces), parts[1].trimmingCharacters(in: .whitespaces)
        )
        return name.isEmpty ? nil : (name, value)
    }
}
