public import Foundation
internal import Interceptors

/// What a stored response is found by: the target URI and the partition it belongs to (RFC 9111 §2).
///
/// The query is always part of it, the fragment never. Scheme and host are in lower case, the port is written out, an
/// empty path is `/`; nothing else is changed: `%7E` and `~` are two keys, since only the server knows whether they are one.
public struct CacheKey: Sendable, Hashable {
    /// Whose entry it is: no request of another partition ever gets it. Empty for those that name nobody.
    public let partition: String
    /// The target URI.
    public let url: String

    /// The key of an absolute http or https URL, otherwise `nil`.
    public init?(url: URL, partition: String = "") {
        guard let origin = Origin(url) else { return nil }
        let path = url.path(percentEncoded: true)
        var text = origin.description + (path.isEmpty ? "/" : path)
        if let query = url.query(percentEncoded: true) { text += "?" + query }
        self.url = text
        self.partition = partition
    }

    init(partition: String, text url: String) {
        self.partition = partition
        self.url = url
    }

    /// Both parts in one text, from which each can be told again: no choice of one can imitate another's key.
    public var text: String { "\(partition.utf8.count):\(partition):\(url)" }
}
