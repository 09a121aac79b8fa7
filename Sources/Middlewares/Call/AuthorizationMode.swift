/// What a request has to do with the credentials that its chain adds and renews.
///
/// ```swift
/// var context = HTTPContext()
/// context.authorization = .omitted
/// let session = try await api.post("/login", body: form, as: Session.self, context: context)
///
/// context.authorization = .notRenewed
/// try await api.post("/confirm-password", body: .form(["password": password]), context: context)
/// ```
/// `bearerAuth`, `passwordAuth` and its likes, and `retryOnUnauthorized` keep to it.
public struct AuthorizationMode: Sendable, Hashable {
    private enum Kind: Sendable { case automatic, notRenewed, omitted }

    private let kind: Kind

    /// The credential goes with the request, and if the server rejects it, it is renewed and the request sent again: what
    /// applies where nothing else is said.
    public static let automatic = Self(kind: .automatic)
    /// The credential goes with the request, renewed before if it has expired, but a rejection is the caller's answer: for
    /// what a server answers with a 401 although the session is good, such as a wrong password that is to be confirmed.
    public static let notRenewed = Self(kind: .notRenewed)
    /// No credential goes with the request, which waits for none either, and a rejection is the caller's answer: for a log-in,
    /// whose 401 means that the password is wrong, and for what is public. Where requests name a partition of the cache
    /// (``Interceptors/HTTPContext/cachePartition``), give such a request one of its own: those of one name share what is
    /// stored, whether a credential goes with them or not.
    public static let omitted = Self(kind: .omitted)
}

extension HTTPContext {
    private enum AuthorizationKey: HTTPContextKey { static var defaultValue: AuthorizationMode { .automatic } }

    /// On a request: what it has to do with the credentials that its chain adds and renews.
    public var authorization: AuthorizationMode {
        get { self[AuthorizationKey.self] }
        set { self[AuthorizationKey.self] = newValue }
    }
}
