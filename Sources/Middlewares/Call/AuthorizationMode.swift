/// Whether a request carries the credentials that its chain adds, and whether a rejection renews them.
///
/// ```swift
/// var context = HTTPContext()
/// context.authorization = .omitted
/// let session = try await api.post("/login", body: form, as: Session.self, context: context)
///
/// context.authorization = .notRenewed
/// try await api.post("/confirm-password", body: .form(["password": password]), context: context)
/// ```
/// `bearerAuth`, `httpAuth`, `basicAuth`, `digestAuth` and `retryOnUnauthorized` follow this mode.
public struct AuthorizationMode: Sendable, Hashable {
    private enum Kind: Sendable { case automatic, notRenewed, omitted }

    private let kind: Kind

    /// The request carries the credential. If the server rejects it, the chain renews the credential and sends the request
    /// again. This is the default.
    public static let automatic = Self(kind: .automatic)
    /// The request carries the credential, refreshed beforehand if it has expired, but a rejection goes to the caller.
    ///
    /// Use this mode where a 401 doesn't mean that the session has ended, such as for a wrong password in a confirmation
    /// dialog.
    public static let notRenewed = Self(kind: .notRenewed)
    /// The request carries no credential and waits for none, and a rejection goes to the caller.
    ///
    /// Use this mode for a log-in, whose 401 means a wrong password, and for public resources. If your requests name a cache
    /// partition (`HTTPContext.cachePartition`), give such a request a different partition: requests in one
    /// partition share stored responses, whether or not they carry a credential.
    public static let omitted = Self(kind: .omitted)
}

extension HTTPContext {
    private enum AuthorizationKey: HTTPContextKey { static var defaultValue: AuthorizationMode { .automatic } }

    /// On a request: whether it carries the credentials that its chain adds, and whether a rejection renews them.
    public var authorization: AuthorizationMode {
        get { self[AuthorizationKey.self] }
        set { self[AuthorizationKey.self] = newValue }
    }
}
