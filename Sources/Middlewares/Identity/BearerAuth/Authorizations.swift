internal import Synchronization

/// The notes of a chain's interceptors about the credentials of one owner, such as a ``TokenStore``.
struct Authorization: Sendable {
    /// Updated with the credential that the request carries, for the `retryOnUnauthorized` that wants to know.
    var record: AuthorizationRecord?
    /// Whether the owner has already handled the request's authorization.
    var isHandled = false
    /// The partition that the request got from the owner's account.
    var partition: TokenPartition?
}

/// The account that a request's partition was set to; `nil` for no token.
struct TokenPartition: Sendable {
    let account: String?
}

/// Records which credential a request carried: the interceptor that adds the credential writes, `retryOnUnauthorized` outside
/// it reads.
///
/// The record travels in the request's context, because the outcome may be an error that refers to no request.
final class AuthorizationRecord: Sendable {
    /// The origins whose responses count, for an owner that no inner interceptor consults; `nil` for every origin.
    private let origins: Set<Origin>?
    private let carried: Mutex<CredentialGeneration?>

    init(_ carried: CredentialGeneration? = nil, origins: Set<Origin>? = nil) {
        self.origins = origins
        self.carried = Mutex(carried)
    }

    /// Notes the credential that the owner added; for a token store without a token, the generation of "no token". `nil` if
    /// the owner was asked, and added none.
    func note(_ generation: CredentialGeneration?) { carried.withLock { $0 = generation } }

    /// The credential that a response, or an error without one, accepts or rejects; `nil` if the request carried none of the
    /// owner's. After several hops or attempts, this is the credential of the last one.
    func generation(in response: HTTPResponse?) -> CredentialGeneration? {
        // A redirect, followed inside, may have led to another origin.
        if let origins, let origin = response?.url.flatMap(Origin.init), !origins.contains(origin) { return nil }
        return carried.withLock { $0 }
    }
}

/// The notes of a request, by owner. The first owner's need no heap allocation.
struct Authorizations: Sendable {
    private var first: (owner: ObjectIdentifier, note: Authorization)?
    private var others: [ObjectIdentifier: Authorization] = [:]

    subscript(owner: AnyObject) -> Authorization {
        get {
            let id = ObjectIdentifier(owner)
            return (first?.owner == id ? first?.note : others[id]) ?? Authorization()
        }
        set {
            let id = ObjectIdentifier(owner)
            if (first?.owner ?? id) == id { first = (id, newValue) } else { others[id] = newValue }
        }
    }
}

extension HTTPContext {
    private enum AuthorizationsKey: HTTPContextKey { static var defaultValue: Authorizations { .init() } }

    /// On a request: the notes about its credentials, by owner.
    var authorizations: Authorizations {
        get { self[AuthorizationsKey.self] }
        set { self[AuthorizationsKey.self] = newValue }
    }
}
