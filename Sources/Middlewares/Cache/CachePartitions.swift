internal import Foundation
internal import Interceptors
internal import Synchronization

/// Whose entries a request may see.
final class CachePartitions: Sendable {
    /// What a request shows of who sends it.
    private struct Credentials: Equatable {
        var fields: [HTTPField] = []
        var user: String?
    }

    private struct Known {
        let credentials: Credentials
        let name: String
    }

    // A program speaks for a user or two; their fingerprints would else take as long as all the rest of a hit.
    private static let remembered = 4
    private let known = Mutex<[Known]>([])

    /// What the request names, or a fingerprint of the credentials it carries; empty if it carries none.
    ///
    /// Who wants to be taken for another by naming its fingerprint must know its credentials.
    ///
    /// Every field with a sensitive name counts as a credential, and so does a user in the URL.
    func name(for request: HTTPRequest) -> String {
        if let named = request.context.cachePartition, !named.isEmpty { return named }
        let credentials = Self.credentials(of: request)
        if credentials.fields.isEmpty && credentials.user == nil { return "" }
        if let name = known.withLock({ known in known.first { $0.credentials == credentials }?.name }) { return name }
        let name = Self.fingerprint(of: credentials)
        known.withLock { known in
            if known.count == Self.remembered { known.removeLast() }
            known.insert(Known(credentials: credentials, name: name), at: 0)
        }
        return name
    }

    private static func credentials(of request: HTTPRequest) -> Credentials {
        var credentials = Credentials()
        let redaction = Redaction.standard
        for field in request.headerFields where redaction.isSensitive(field.name) { credentials.fields.append(field) }
        var url = request.url.absoluteString
        // What parses the URL is for the few that may have a user.
        if url.withUTF8({ $0.contains(UInt8(ascii: "@")) }), let user = request.url.user(percentEncoded: true) {
            credentials.user = user + ":" + (request.url.password(percentEncoded: true) ?? "")
        }
        return credentials
    }

    private static func fingerprint(of credentials: Credentials) -> String {
        var bytes: [UInt8] = []
        for field in credentials.fields { add(field.name.rawName, field.value, to: &bytes) }
        if let user = credentials.user { add("@", user, to: &bytes) }
        return SHA256.hexadecimal(SHA256.digest(bytes)[..<16], after: "credentials:")
    }

    // Each part after its length, so that no two lists of parts make the same bytes.
    private static func add(_ name: String, _ value: String, to bytes: inout [UInt8]) {
        add(count: name.utf8.count, to: &bytes)
        bytes += name.utf8.map(ASCII.lowercased)
        add(count: value.utf8.count, to: &bytes)
        bytes += value.utf8
    }

    private static func add(count: Int, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: UInt64(count).littleEndian) { bytes += $0 }
    }
}
