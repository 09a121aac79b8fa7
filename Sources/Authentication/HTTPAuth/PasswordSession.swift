internal import Synchronization

/// The session of one user after another, for passwords that depend on the user.
///
/// ```swift
/// let session = PasswordSession()
/// let api = Client(
///     baseURL: url,
///     interceptors: [.httpAuth(session: session) { realm, origin in await keychain.credential(for: realm) }]
/// )
/// session.signOut()                       // the next challenge asks the closure again
/// ```
public final class PasswordSession: Sendable {
    private let count = Atomic<UInt64>(0)

    /// Creates a session. Several interceptors may use it.
    public init() {}

    /// Makes the interceptors of this session forget all accepted and rejected credentials. Call it when the user of the
    /// closure's credentials changes.
    ///
    /// A challenge to a request already under way is then not answered, because the closure may return another user's
    /// credential.
    public func signOut() { count.wrappingAdd(1, ordering: .sequentiallyConsistent) }

    /// A number that every sign-out changes.
    var generation: UInt64 { count.load(ordering: .sequentiallyConsistent) }
}

/// An authentication scheme for a name and a password.
public struct PasswordScheme: Sendable, Hashable {
    let name: String

    /// RFC 7617: sends the name and the password in clear; without TLS, anyone on the network path can read them.
    public static let basic = Self(name: "basic")
    /// RFC 7616: sends a digest that doesn't reveal the password.
    public static let digest = Self(name: "digest")
}
