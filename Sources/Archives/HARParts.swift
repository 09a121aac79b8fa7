internal import Foundation
internal import InterceptorsSyntax

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
        return .array(
            query.split(separator: "&").map { pair in
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { part in
                    let spaced = String(part.replacing("+", with: " "))
                    return spaced.removingPercentEncoding ?? spaced
                }
                return record(parts[0], parts.count > 1 ? parts[1] : "")
            }
        )
    }
}
