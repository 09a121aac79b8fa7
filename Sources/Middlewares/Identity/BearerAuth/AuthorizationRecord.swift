internal import Synchronization

/// Records which credential a request carried: the interceptor that adds the credential writes, `retryOnUnauthorized` outside
/// it reads.
///
/// The record travels in the request's context, because the outcome may be an error that refers to no request.
final class AuthorizationRecord: Sendable {
    enum Entry: Sendable {
        /// The request never reached the interceptor that adds the owner's credential.
        case unused
        /// The owner was asked, and added no credential.
        case withheld
        /// The owner's credential at that time; for a token store without a token, the generation of "no token".
        case used(CredentialGeneration)
    }

    let owner: ObjectIdentifier
    /// The origins whose responses count, for an owner that no inner interceptor consults.
    let origins: Set<Origin>
    private let entry: Mutex<Entry>

    init(owner: AnyObject, origins: Set<Origin> = []) {
        self.origins = origins
        self.owner = ObjectIdentifier(owner)
        entry = Mutex(.unused)
    }

    /// The last entry noted. After several hops or attempts, this entry belongs to the hop or attempt that produced the
    /// outcome.
    var last: Entry { entry.withLock { $0 } }

    func note(_ new: Entry) { entry.withLock { $0 = new } }
}

extension HTTPContext {
    private enum RecordsKey: HTTPContextKey { static var defaultValue: InlineArray1<AuthorizationRecord> { .init() } }
    private enum AuthorizersKey: HTTPContextKey { static var defaultValue: InlineArray1<ObjectIdentifier> { .init() } }

    /// The records to update with the credential that the request carries.
    var authorizationRecords: InlineArray1<AuthorizationRecord> {
        get { self[RecordsKey.self] }
        set { self[RecordsKey.self] = newValue }
    }

    /// The owners that have already handled the request's authorization.
    var authorizers: InlineArray1<ObjectIdentifier> {
        get { self[AuthorizersKey.self] }
        set { self[AuthorizersKey.self] = newValue }
    }

    func authorizationRecord(of owner: AnyObject) -> AuthorizationRecord? {
        authorizationRecords.first { $0.owner == ObjectIdentifier(owner) }
    }
}
