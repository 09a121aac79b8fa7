internal import Foundation
internal import Interceptors
internal import Synchronization

/// Whose entries a request may see.
final class CachePartitions: Sendable {
    private struct Known {
        let credentials: [UInt8]
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
        if credentials.isEmpty { return "" }
        if let name = known.withLock({ known in known.first { $0.credentials == credentials }?.name }) { return name }
        let name = SHA256.hexadecimal(SHA256.digest(credentials)[..<16], after: "credentials:")
        known.withLock { known in
            if known.count == Self.remembered { known.removeLast() }
            known.insert(Known(credentials: credentials, name: name), at: 0)
        }
        return name
    }

    private static func credentials(of request: HTTPRequest) -> [UInt8] {
        var credentials: [UInt8] = []
        for field in request.headerFields where Redaction.standard.isSensitive(field.name.rawName) {
            add(field.name.rawName, field.value, to: &credentials)
        }
        // What parses the URL is for the few that may have a user.
        if request.url.absoluteString.utf8.contains(UInt8(ascii: "@")),
            let user = request.url.user(percentEncoded: true)
        {
            add("@", user + ":" + (request.url.password(percentEncoded: true) ?? ""), to: &credentials)
        }
        return credentials
    }

    // Each part after its length, so that no two lists of parts make the same bytes.
    private static func add(_ name: String, _ value: String, to credentials: inout [UInt8]) {
        if credentials.isEmpty { credentials.reserveCapacity(name.utf8.count + value.utf8.count + 16) }
        add(count: name.utf8.count, to: &credentials)
        for byte in name.utf8 { credentials.append(ASCII.lowercased(byte)) }
        add(count: value.utf8.count, to: &credentials)
        credentials.append(contentsOf: value.utf8)
    }

    private static func add(count: Int, to credentials: inout [UInt8]) {
        withUnsafeBytes(of: UInt64(count).littleEndian) { credentials.append(contentsOf: $0) }
    }
}
