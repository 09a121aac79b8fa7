internal import Synchronization

/// What a request was sent with, written by the inner end of a chain and read by the outer one.
///
/// It travels in the request's context, since an answer may come back as an error that knows of no request.
final class AuthorizationRecord: Sendable {
    enum Entry: Sendable {
        /// The credential's owner was not asked.
        case unused
        /// The owner was asked and gave nothing of its own.
        case withheld
        /// What the owner had at the time; for a token store, that may be no token.
        case used(CredentialGeneration)
    }

    let owner: ObjectIdentifier
    /// Whose answers count, for an owner that is not asked inside.
    let origins: Set<Origin>
    private let entry: Mutex<Entry>

    init(owner: AnyObject, origins: Set<Origin> = []) {
        self.origins = origins
        self.owner = ObjectIdentifier(owner)
        entry = Mutex(.unused)
    }

    /// The last thing that was noted: of several hops or attempts inside, the one that was answered.
    var last: Entry { entry.withLock { $0 } }

    func note(_ new: Entry) { entry.withLock { $0 = new } }
}

extension HTTPContext {
    private enum RecordsKey: HTTPContextKey { static var defaultValue: Few<AuthorizationRecord> { Few() } }
    private enum AuthorizersKey: HTTPContextKey { static var defaultValue: Few<ObjectIdentifier> { Few() } }

    /// The records that want to know what the request is sent with.
    var authorizationRecords: Few<AuthorizationRecord> {
        get { self[RecordsKey.self] }
        set { self[RecordsKey.self] = newValue }
    }

    /// Those who have dealt with the request's authorization already.
    var authorizers: Few<ObjectIdentifier> {
        get { self[AuthorizersKey.self] }
        set { self[AuthorizersKey.self] = newValue }
    }

    func authorizationRecord(of owner: AnyObject) -> AuthorizationRecord? {
        authorizationRecords.first { $0.owner == ObjectIdentifier(owner) }
    }
}
