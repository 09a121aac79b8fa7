internal import Foundation
internal import InterceptorsSyntax

/// Identifies the user a response belongs to, as far as the request shows. Interceptors that keep or share responses use the
/// caller as part of their key.
///
/// If the request names a partition (``InterceptorsTransport/HTTPContext/cachePartition``), that partition is the caller. Otherwise
/// the caller consists of the fields with a sensitive name (`Redaction.isSensitive(_:)`) except `Proxy-Authorization`, a user in the
/// URL, the identities that outer interceptors have declared (``InterceptorsTransport/HTTPRequest/identifyCaller(by:as:)``), and the
/// transport's client certificate. All requests without any of these share one anonymous caller.
public struct Caller: Sendable, Hashable {
    // Texts are kept as bytes: String equality follows Unicode equivalence, and would merge two users whose names differ only
    // in normalization. `HTTPField` compares bytes, too.
    private let partition: [UInt8]?
    private let fields: [HTTPField]
    private let user: [UInt8]?
    private let identities: [CallerIdentity]

    package init(_ request: HTTPRequest) {
        partition = request.context.namedPartition.map { Array($0.utf8) }
        let isNamed = partition != nil
        fields = isNamed ? [] : request.headers.filter { $0.name.identifiesCaller }
        user = isNamed ? nil : Self.user(of: request.url)
        identities = isNamed ? [] : request.context.callerIdentities
    }

    /// Whether neither a partition nor a credential identifies the caller.
    package var isAnonymous: Bool { partition == nil && fields.isEmpty && user == nil && identities.isEmpty }

    /// Whether a request without a named partition has this caller's credentials. Compares in place, because nearly every request
    /// comes from a known caller.
    package func hasCredentials(of request: HTTPRequest) -> Bool {
        var count = 0
        let all = request.headers
        for index in all.indices where all[index].name.identifiesCaller {
            guard count < fields.count, fields[count] == all[index] else { return false }
            count += 1
        }
        return count == fields.count && identities == request.context.callerIdentities
            && user == Self.user(of: request.url)
    }

    /// All credentials, each after its length, so that different lists never make the same bytes.
    package var bytes: [UInt8] {
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
            add(user)
        }
        for identity in identities { add(identity.bytes) }
        return bytes
    }

    private static func user(of url: URL) -> [UInt8]? {
        // Parsing the URL is slow, so it is left to the few URLs that may contain a user.
        guard url.absoluteString.utf8.contains(UInt8(ascii: "@")), let user = url.user(percentEncoded: true) else {
            return nil
        }
        return Array((user + ":" + (url.password(percentEncoded: true) ?? "")).utf8)
    }
}

extension Caller: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Whether a partition or credentials identify the caller. Neither is printed.
    public var description: String {
        partition != nil ? "Caller(named partition)" : isAnonymous ? "Caller(nobody)" : "Caller(credentials)"
    }

    /// Equal to ``description``.
    public var debugDescription: String { description }

    /// A mirror that shows ``description`` and no credentials.
    public var customMirror: Mirror { Mirror(self, children: ["description": description], displayStyle: .struct) }
}

extension HTTPField.Name {
    /// Whether a field of this name tells callers apart. `Proxy-Authorization` is secret, but applies only to the proxy that
    /// demanded it (RFC 9110 §11.7.2), and the rules for stored responses are about `Authorization` alone (RFC 9111 §3.5).
    package var identifiesCaller: Bool { Redaction.standard.isSensitive(self) && self != .proxyAuthorization }
}

/// A user's identity, as declared by the interceptor that adds the credential.
package struct CallerIdentity: Sendable, Hashable {
    package let bytes: [UInt8]

    /// - Parameter element: the name of the element that adds or presents the credential.
    init(_ element: String, _ identity: String) { bytes = Array(element.utf8) + [0] + Array(identity.utf8) }
}

/// The marks on a request that tell who asks, beside its credentials.
private struct CallerMarks: Sendable {
    var partition: String?
    var identities: [CallerIdentity] = []
}

extension HTTPContext {
    private enum CallerKey: HTTPContextKey { static var defaultValue: CallerMarks { CallerMarks() } }

    /// On a request: the account whose cache entries it may read and write, such as an account ID. If `nil` or empty, the
    /// request's credentials decide.
    ///
    /// All requests with the same partition share cached responses, whatever credentials they carry: a constant partition would
    /// share them among all users. A request without a credential, such as a log-in, needs a partition no account uses.
    /// Otherwise it could receive a response stored for the account.
    ///
    /// With a partition, a cache or `coalesce` may be placed outside the interceptor that adds the credentials, and cache
    /// entries survive a token change. Without one, an outer cache can't tell users apart, so the request fails with
    /// `HTTPErrorCode.sharedResponse`. Nothing checks that the credential finally sent belongs to the named account, unless `partition(by:
    /// tokens)` sets the partition.
    public var cachePartition: String? {
        get { self[CallerKey.self].partition }
        set { self[CallerKey.self].partition = newValue }
    }

    /// On a request: the partition that it names; `nil` if that is empty.
    package var namedPartition: String? { cachePartition.flatMap { $0.isEmpty ? nil : $0 } }

    /// On a request: the identities that outer interceptors have declared, and the client certificate of the chain's transport.
    package internal(set) var callerIdentities: [CallerIdentity] {
        get { self[CallerKey.self].identities }
        set { self[CallerKey.self].identities = newValue }
    }
}

extension HTTPRequest {
    /// The user the response belongs to, as far as the request shows at this point in the chain.
    public var caller: Caller { Caller(self) }

    /// Declares that the credential about to be added tells users apart. Call this method in an interceptor that adds a
    /// credential.
    ///
    /// Inner caches and ``caller`` then keep users apart by this identity, whether a field, the URL or the content carries the
    /// credential.
    ///
    /// Inside an element that shares responses, the declaration throws. The credential goes to its origin only, because a
    /// redirect or an absolute URL may lead to another server:
    ///
    /// ```swift
    /// struct APIKeyInterceptor: Interceptor {
    ///     let key: String
    ///     let origin: Origin
    ///
    ///     func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
    ///         try request.identifyCaller(by: "apiKey", as: key)
    ///         if Origin(request.url) == origin { request.headers["X-API-Key"] = key }
    ///         return try await next(request)
    ///     }
    /// }
    /// ```
    /// The chain also checks by itself. If a field or query item with a sensitive name (`Redaction.isSensitive(_:)`) was added
    /// or changed inside such an element, the chain refuses the request before the transport; `Proxy-Authorization` is exempt.
    /// Calling this method is still better: the error names the element, any field name works, and even a first request without
    /// a credential fails. Call it for every request, with `nil` where there is no credential yet.
    ///
    /// The client certificate that a transport of this package presents (`TLSConfiguration.identity`) tells users apart without a
    /// call. A chain can't see other credentials that a transport adds, such as `httpAdditionalHeaders` of a URL session, nor a
    /// transport that another one hides. Nor can it check an interceptor that builds a new request instead of changing the given
    /// one. Name a partition there (``InterceptorsTransport/HTTPContext/cachePartition``).
    ///
    /// - Parameters:
    ///   - element: the interceptor's name as written in a chain, such as `apiKey`.
    ///   - identity: a value that differs between users, such as the key or an account ID. It stays in the request's context
    ///     and is never printed. `nil` if the request gets no credential, for instance while nobody is signed in: the order of
    ///     the chain is checked all the same, so that the first request fails and not the first one with a credential.
    /// - Throws: `TransportError` with `HTTPErrorCode.sharedResponse` if an outer element may answer other requests with this
    ///   response.
    public mutating func identifyCaller(by element: String, as identity: String?) throws {
        try requireUnshared(by: element)
        guard let identity else { return }
        context.callerIdentities.append(CallerIdentity(element, identity))
    }

    /// Declares that everything added to the request so far is the same for all users, such as the app's own API key.
    ///
    /// An outer cache then accepts the sensitive fields and query items already present, instead of refusing the request. If
    /// they do differ between users, one user could receive another's response.
    public mutating func declareAnonymous() {
        guard let sharing = context.sharedExchange.sharing else { return }
        let outer = sharing.outer.map { ResponseSharing($0.element, seeing: self) }
        context.sharedExchange.sharing = ResponseSharing(sharing.element, seeing: self, outer: outer)
    }
}
