internal import Foundation
internal import InterceptorsCore

/// A request as a folder looks it up.
struct FolderQuery {
    let method: HTTPRequest.Method
    let url: String
    /// The folder of the request's origin; `nil` to answer from every origin's.
    let origin: String?
    /// The digest of the request's body.
    let body: String?
    /// The folders of the methods whose files answer, the best first.
    let methods: [String]
    /// The names of the request's files, the best first. Files for its URL come before files for its URL with any secrets.
    let names: [FolderName]
    /// The names without the secrets in the URL.
    let redactedNames: [FolderName]

    /// - Parameters:
    ///   - url: the URL, or the target as a server received it.
    ///   - origin: the folder of the request's origin; `nil` to answer from every origin's.
    ///   - origins: all folders of origins. They count if `origin` is `nil`.
    ///   - body: the digest of the request's body.
    init(
        _ method: HTTPRequest.Method,
        _ url: String,
        origin: String?,
        origins: [String],
        body: String?,
        redaction: ExchangeRedaction
    ) {
        (self.method, self.url, self.origin, self.body) = (method, url, origin, body)
        let own = FolderName.folder(of: method)
        // HEAD is answered like GET, without the content (RFC 9110 §9.3.2).
        let methods = [own] + (method == .head ? [FolderName.folder(of: .get)] : []) + [FolderName.anything]
        let folders = origin.map { [$0, nil] } ?? [nil] + origins
        let bodies = body == nil ? [nil] : [body, nil]
        func names(_ redaction: ExchangeRedaction) -> [FolderName] {
            let segments = FolderName.segments(of: url, redaction: redaction)
            return methods.flatMap { method in
                folders.flatMap { folder in
                    bodies.map {
                        FolderName(origin: folder, methodFolder: method, segments: segments, body: $0)
                    }
                }
            }
        }
        self.methods = methods
        redactedNames = names(redaction)
        let literal = names(ExchangeRedaction(nil))
        self.names = literal == redactedNames ? literal : literal + redactedNames
    }

    /// Equal for equal requests: the method, the URL without its secrets, the origin and the body's digest.
    var identity: FolderName { redactedNames[0] }

    func isForOrigin(_ name: FolderName) -> Bool { name.origin == nil || origin == nil || name.origin == origin }
}
