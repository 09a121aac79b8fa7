internal import Foundation
internal import InterceptorsCore
internal import InterceptorsSyntax
internal import Synchronization

/// Decides which partition of the store a request belongs to.
final class CachePartitions: Sendable {
    /// The parts of a request that identify its caller.
    private struct Credentials {
        let fields: [HTTPField]
        let user: String?
        let identities: [CallerIdentity]

        init(_ request: HTTPRequest, user: String?) {
            fields = request.headerFields.filter { $0.name.identifiesCaller }
            self.user = user
            identities = request.context.callerIdentities
        }

        var isEmpty: Bool { fields.isEmpty && user == nil && identities.isEmpty }

        /// Whether a request has these credentials. Compares in place, because nearly every request comes from a known caller.
        func are(of request: HTTPRequest, user: String?) -> Bool {
            var count = 0
            let all = request.headerFields
            for index in all.indices where all[index].name.identifiesCaller {
                guard count < fields.count, fields[count] == all[index] else { return false }
                count += 1
            }
            return count == fields.count && identities == request.context.callerIdentities && isOf(user)
        }

        private func isOf(_ other: String?) -> Bool {
            guard let user, let other else { return user == nil && other == nil }
            return ASCII.isSame(user, other)
        }

        /// All parts, each after its length, so that different lists of parts never make the same bytes.
        var bytes: [UInt8] {
            var bytes: [UInt8] = []
            func add(_ part: some Collection<UInt8>) {
                withUnsafeBytes(of: UInt64(part.count).littleEndian) { bytes += $0 }
                bytes += part
            }
            for field in fields {
                add(field.name.rawName.utf8.map(ASCII.lowercased))
                add(field.value.utf8)
            }
            if let user {
                add("@".utf8)
                add(user.utf8)
            }
            for identity in identities { add(identity.bytes) }
            return bytes
        }
    }

    // An app acts for one or two users. Computing a fingerprint takes about as long as a hit from memory.
    private static let remembered = 4
    private let digest: FieldDigest
    private let known = Mutex<[(credentials: Credentials, name: String)]>([])

    init(_ digest: FieldDigest = .ofProcess) { self.digest = digest }

    /// The partition that the request names, or a fingerprint of its credentials; empty if it has no credentials.
    ///
    /// Naming a caller's fingerprint requires knowing its credentials.
    ///
    /// Credentials are every field with a sensitive name except `Proxy-Authorization`, a user in the URL, and the identities
    /// that interceptors have declared (``InterceptorsCore/HTTPRequest/identifyCaller(by:as:)``).
    ///
    func name(for request: HTTPRequest) -> String {
        if let named = request.context.namedPartition { return named }
        let user = Self.user(of: request.url)
        if let name = known.withLock({ $0.first { $0.credentials.are(of: request, user: user) }?.name }) { return name }
        let credentials = Credentials(request, user: user)
        if credentials.isEmpty { return "" }
        // A name made with the key of the process is used only until the store's key can be read.
        let isLasting = digest.isReady
        let name = digest.text(of: credentials.bytes, after: "credentials:")
        guard isLasting else { return name }
        known.withLock { known in
            if known.count == Self.remembered { known.removeLast() }
            known.insert((credentials, name), at: 0)
        }
        return name
    }

    private static func user(of url: URL) -> String? {
        // Parsing the URL is slow, so it is left to the few URLs that may contain a user.
        guard url.absoluteString.utf8.contains(UInt8(ascii: "@")), let user = url.user(percentEncoded: true) else {
            return nil
        }
        return user + ":" + (url.password(percentEncoded: true) ?? "")
    }
}
