/// An interceptor that declares its place in a chain, so that ``InterceptorChain/findings`` can judge the order.
///
/// The rules relate roles, not types. Your interceptor takes part as soon as it declares its roles:
///
/// ```swift
/// extension AppVersion: PlacedInterceptor {
///     var placement: [ChainRole] { [.changesRequest] }
/// }
/// ```
/// An interceptor without a placement, such as a closure, is not judged, and the chain's ``InterceptorChain/description`` says
/// so.
public protocol PlacedInterceptor: Interceptor {
    /// The roles of this interceptor, which may depend on its settings, and its wishes for its place:
    /// `[.addsCredentials, .inside(.followsRedirects)]`.
    var placement: [ChainRole] { get }
}

/// The roles of an interceptor, and its wishes for its place, as the rules and the conformance tests ask for them.
package struct Placement: Sendable {
    /// The ids of the declared and implied roles.
    private(set) var roles: Set<String> = []
    /// The names of the declared roles, in their order.
    private(set) var declared: [String] = []
    /// Roles whose elements belong outside or inside the interceptor; the reason is a sentence.
    var wishes: [(isInside: Bool, role: ChainRole, reason: String?)] = []
    /// The object that a credential comes from.
    var subject: ObjectIdentifier?
    /// The only origins that the credential is for, as far as known.
    var origins: Set<Origin>?
    /// Whether each request to these origins gets the credential.
    var isConstant = false
    /// The limit of an element that sets a deadline. Without a limit, it enforces the deadlines of requests.
    package var limit: Duration?
    /// The reason why the element does nothing, and a setting with which it does something.
    var idleness: (reason: String, remedy: String)?
    /// The fields that carry the element's credentials.
    var secretFields: [HTTPField.Name] = []
    /// Decides which values an element that logs hides, or which fields a redirect removes.
    package var redaction: Redaction?
    /// The only statuses that the element retries, turns into errors or acts on; `nil` if it may be any. 0 is a failed connection.
    var statuses: Set<Int>?
    /// The number of attempts of an element that retries.
    package var attempts: Int?
    /// The number of failures in a row that open a circuit.
    package var failures: Int?
    /// The element's name in code, if its type's name doesn't tell.
    var spelling: String?
    /// The element's settings in code; `nil` if they are unknown or long.
    var settings: String?

    package init(_ roles: [ChainRole]) {
        for role in roles {
            role.describe(&self)
            for id in sequence(first: role.id, next: { ChainRole.implied[$0] }) { self.roles.insert(id) }
            if role.isShown, !declares(role) { declared.append(role.name) }
        }
    }

    /// Empty for an interceptor that declares none.
    init(_ interceptor: any Interceptor) { self.init((interceptor as? any PlacedInterceptor)?.placement ?? []) }

    /// Whether a role was declared, or is implied by one that was.
    package func includes(_ role: ChainRole) -> Bool { roles.contains(role.id) }

    /// Whether a role was declared by name, and not only implied by another.
    package func declares(_ role: ChainRole) -> Bool { declared.contains(role.name) }
}

/// The implementation of `.intercept(_:placement:_:)`, documented there.
struct PlacedClosureInterceptor: PlacedInterceptor, NamedInterceptor {
    let name: String
    let placement: [ChainRole]
    let body: @Sendable (inout HTTPRequest, Next) async throws -> HTTPResponse

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        try await body(&request, next)
    }
}

extension Interceptor where Self == AnyInterceptor {
    /// An interceptor made from a closure that declares its place, so that ``InterceptorChain/findings`` can judge it:
    ///
    /// ```swift
    /// .intercept("rejectErrorPages", placement: [.validates]) { request, next in
    ///     let response = try await next(request)
    ///     if response.headers[.contentType] == "text/html" { throw ErrorPage() }
    ///     return response
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - name: the element's name in the printed chain, in findings and in a journal.
    ///   - placement: the roles of the closure and its wishes; `[]` for a closure that plays no role.
    ///   - body: handles one request, as ``Interceptor/intercept(_:next:)`` does.
    public static func intercept(
        _ name: String,
        placement: [ChainRole],
        _ body: @escaping @Sendable (inout HTTPRequest, Next) async throws -> HTTPResponse
    ) -> Self {
        Self(PlacedClosureInterceptor(name: name, placement: placement, body: body))
    }
}
