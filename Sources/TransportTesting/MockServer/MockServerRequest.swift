public import Foundation
public import Interceptors

extension MockServer {
    /// A request as it arrived.
    public struct Request: Sendable {
        /// The method.
        public let method: HTTPRequest.Method
        /// The request target, as on the wire (RFC 9112 §3.2).
        public let target: String
        /// The path of the target, percent-encoded as on the wire; `*` for the asterisk form.
        public let path: String
        /// What follows the first `?` of the target, percent-encoded as on the wire.
        public let query: String?
        /// The HTTP version: `1.1` or `1.0`.
        public let version: String
        /// The header fields, in the order and spelling of the wire. A value that is not UTF-8 is read as ISO 8859-1.
        public let headerFields: HTTPFields
        /// The content with its transfer coding removed: of a content over ``MockServer/Limits/keptBody``, its beginning.
        public internal(set) var body = Data()
        /// The count of all bytes of the content.
        public internal(set) var bodyLength = 0
        /// The fields that followed a chunked content.
        public internal(set) var trailerFields = HTTPFields()
        /// The number of the connection, from 1, in the order in which they were accepted.
        public internal(set) var connection = 0
        /// The number of the request on its connection, from 1: over 1, the connection was used again.
        public internal(set) var number = 0

        /// The content as text; bytes that are not UTF-8 are replaced.
        public var text: String { String(decoding: body, as: UTF8.self) }

        /// The first value of a query parameter, decoded: `+` and `%20` are a space each.
        public func queryValue(_ name: String) -> String? {
            for pair in (query ?? "").split(separator: "&") {
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { part in
                    part.replacing("+", with: " ").removingPercentEncoding ?? String(part)
                }
                if parts[0] == name { return parts.count == 2 ? parts[1] : "" }
            }
            return nil
        }
    }
}

extension MockServer.Request: CustomStringConvertible {
    /// Method and target.
    public var description: String { "\(method) \(target)" }
}
