/// For whom a response is, as far as a request shows it: what an interceptor that keeps or shares responses keys them by.
///
/// It is the partition that the request names (``HTTPContext/cachePartition``), or else the fields with a sensitive name
/// (``Redaction/isSensitive(_:)``) and the identities that interceptors outside have declared
/// (``HTTPRequest/identifyCaller(by:as:)``). Requests that show none of these have one caller, who is nobody.
public struct Caller: Sendable, Hashable {
    private let partition: [UInt8]?
    private let credentials: [[UInt8]]

    init(_ request: borrowing HTTPRequest) {
        if let named = request.context.cachePartition, !named.isEmpty {
            partition = Array(named.utf8)
            credentials = []
            return
        }
        partition = nil
        var credentials: [[UInt8]] = []
        for field in request.headerFields where Redaction.standard.isSensitive(field.name) {
            // By bytes: a String takes é for e with an accent, so that two users could be one.
            credentials.append(field.name.rawName.utf8.map(ASCII.lowercased))
            credentials.append(Array(field.value.utf8))
        }
        for identity in request.context.callerIdentities { credentials.append(identity.bytes) }
        self.credentials = credentials
    }
}

extension Caller: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Whether a partition or credentials name the caller, without any of them.
    public var description: String {
        partition != nil ? "Caller(named partition)" : credentials.isEmpty ? "Caller(nobody)" : "Caller(credentials)"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// A mirror without credentials.
    public var customMirror: Mirror { Mirror(self, children: ["description": description], displayStyle: .struct) }
}

/// The user of a credential, as the interceptor that adds it declares it.
package struct CallerIdentity: Sendable, Hashable {
    package let bytes: [UInt8]
}

extension HTTPContext {
    private enum CachePartitionKey: HTTPContextKey { static var defaultValue: String? { nil } }
    private enum CallerIdentitiesKey: HTTPContextKey { static var defaultValue: [CallerIdentity] { [] } }

    /// On a request: whose entries of a cache it may see and make, such as an account's ID; `nil`, or an empty name, for what
    /// its credentials say.
    ///
    /// All requests of one name share what is stored, whatever credentials they carry: a constant would give all users the
    /// same. One that goes without a credential, such as a log-in, needs a partition that no account has, or it is answered
    /// with what the account was given.
    ///
    /// With it a cache, and `coalesce`, may stand outside of what adds the credentials, and entries outlive a change of the
    /// token. Without it they can't see who asks there, and the request fails with a ``ChainOrderError``. Nothing checks that
    /// the credential which is sent in the end is of the account that was named, unless `partition(by: tokens)` names it.
    public var cachePartition: String? {
        get { self[CachePartitionKey.self] }
        set { self[CachePartitionKey.self] = newValue }
    }

    /// On a request: the identities that interceptors outside have declared.
    package internal(set) var callerIdentities: [CallerIdentity] {
        get { self[CallerIdentitiesKey.self] }
        set { self[CallerIdentitiesKey.self] = newValue }
    }
}

extension HTTPRequest {
    /// For whom the response is, as far as the request shows it here.
    public var caller: Caller { Caller(self) }

    /// Says that what is added to the request here tells users apart: for an interceptor that adds a credential.
    ///
    /// Further inside, a cache and ``caller`` keep the users apart by it, whatever carries the credential: a field of any name,
    /// the URL, or the content.
    ///
    /// - Parameters:
    ///   - element: the name of the interceptor, as it is written in a chain: `apiKey`.
    ///   - identity: what differs between users, such as the key or an account's ID. It is kept in the context of the request
    ///     and never printed.
    /// - Throws: ``ChainOrderError`` if an element outside may answer other requests with the response: see ``ResponseSharing``.
    public mutating func identifyCaller(by element: String, as identity: String) throws {
        try requireUnshared(by: element)
        context.callerIdentities.append(CallerIdentity(bytes: Array(element.utf8) + [0] + Array(identity.utf8)))
    }

    /// Says that what was added to the request up to here tells no users apart, such as the key of the program itself.
    ///
    /// A cache outside then takes the fields and query items with sensitive names for such ones, instead of refusing the
    /// request. Where they do tell users apart, one user gets the response of another.
    public mutating func declareAnonymous() {
        guard let sharing = context.sharing else { return }
        context.sharing = sharing.seeing(self)
    }
}
