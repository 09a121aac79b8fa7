internal import Foundation
internal import InterceptorsCore
internal import InterceptorsSyntax
internal import Synchronization

/// Decides which partition of the store a request belongs to.
final class CachePartitions: Sendable {
    // An app acts for one or two users. Computing a fingerprint takes about as long as a hit from memory.
    private static let remembered = 4
    private let digest: FieldDigest
    private let known = Mutex<[(caller: Caller, name: String)]>([])

    init(_ digest: FieldDigest = .ofProcess) { self.digest = digest }

    /// The partition that the request names, or a fingerprint of its credentials; empty if it has no credentials.
    ///
    /// Naming a caller's fingerprint requires knowing its credentials.
    ///
    /// Credentials are every field with a sensitive name except `Proxy-Authorization`, a user in the URL, and the identities
    /// that interceptors have declared (``InterceptorsCore/HTTPRequest/identifyCaller(by:as:)``).
    func name(for request: HTTPRequest) -> String {
        if let named = request.context.namedPartition { return named }
        if let name = known.withLock({ $0.first { $0.caller.hasCredentials(of: request) }?.name }) { return name }
        let caller = request.caller
        if caller.isAnonymous { return "" }
        // A name made with the key of the process is used only until the store's key can be read.
        let isLasting = digest.isReady
        let name = digest.text(of: caller.bytes, after: "credentials:")
        guard isLasting else { return name }
        known.withLock { known in
            if known.count == Self.remembered { known.removeLast() }
            known.insert((caller, name), at: 0)
        }
        return name
    }
}
