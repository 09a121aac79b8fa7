internal import Foundation
internal import Interceptors

/// Whose entries a request may see.
enum CachePartition {
    /// What the request names, or a fingerprint of the credentials it carries; empty if it carries none.
    ///
    /// Every field with a sensitive name counts as a credential, and so does a user in the URL.
    static func of(_ request: HTTPRequest) -> String {
        // The two kinds are told apart, so that no name of a partition can be another's fingerprint.
        if let named = request.context.cachePartition { return "n:" + named }
        var credentials: [UInt8] = []
        func add(_ name: String, _ value: String) {
            for part in [name.lowercased(), value] {
                credentials += Array("\(part.utf8.count):\(part)".utf8)
            }
        }
        for field in request.headerFields where Redaction.standard.isSensitive(field.name.rawName) {
            add(field.name.rawName, field.value)
        }
        if let user = request.url.user(percentEncoded: true) {
            add("@", user + ":" + (request.url.password(percentEncoded: true) ?? ""))
        }
        guard !credentials.isEmpty else { return "" }
        let digits = Array("0123456789abcdef")
        return "c:"
            + String(SHA256.digest(credentials).prefix(16).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }
}
