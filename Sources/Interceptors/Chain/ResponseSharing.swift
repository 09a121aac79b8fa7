/// An element of a chain that may answer several requests with one response, such as a cache.
///
/// Such an element can tell users apart only by what a request carries when it arrives there. A credential that is added
/// further inside stays unseen, and one user would get the response of another.
///
/// ## Share responses
/// An interceptor that keeps or shares responses says so on each request that it passes on, unless something else, such
/// as a name of the account, tells whose the response is:
///
/// ```swift
/// struct KeepsTheLast: Interceptor {
///     let kept = Kept()
///
///     func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
///         if let response = await kept.response(to: request) { return response }
///         request.shareResponse(by: "keepsTheLast")
///         let response = try await next(copy request)
///         await kept.keep(response, to: request)
///         return response
///     }
/// }
/// ```
/// ## Add credentials
/// An interceptor that adds what tells users apart refuses to do so inside of such an element:
///
/// ```swift
/// struct APIKeyInterceptor: Interceptor {
///     let key: String
///
///     func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
///         try request.requireUnshared(by: "apiKey")
///         request.headerFields["X-API-Key"] = key
///         return try await next(request)
///     }
/// }
/// ```
/// A chain also looks for itself: a field with a sensitive name (``Redaction/isSensitive(_:)``) that was added or changed
/// inside of such an element is refused before the transport gets the request. The call says which element added it, works
/// for query items and fields with other names, and fails the first request, not the first with a credential.
public struct ResponseSharing: Sendable {
    /// The name of the element, as it is written in a chain: `cache`.
    public let element: String
    /// A sentence about the other way to make the chain work, if there is one.
    public let alternative: String?
    /// The fields that the element has seen.
    let fields: HTTPFields
    /// The elements outside of this one that share responses.
    let outer: [ResponseSharing]

    /// The first field that this element, or one outside of it, would have had to see.
    func unseenField(in others: HTTPFields) -> (field: HTTPField, element: ResponseSharing)? {
        for index in others.indices {
            // Most fields stay where they are.
            if index < fields.count, fields[index] == others[index] { continue }
            if Redaction.standard.isSensitive(others[index].name), !fields.contains(others[index]) {
                return (others[index], self)
            }
        }
        for sharing in outer {
            if let unseen = sharing.unseenField(in: others) { return unseen }
        }
        return nil
    }
}

extension HTTPContext {
    private enum SharingKey: HTTPContextKey { static var defaultValue: ResponseSharing? { nil } }

    /// On a request: the innermost element it has passed that may answer other requests with its response; `nil` if there
    /// is no such element, or if the request names whose the response is.
    public internal(set) var sharing: ResponseSharing? {
        get { self[SharingKey.self] }
        set { self[SharingKey.self] = newValue }
    }
}

extension HTTPRequest {
    /// Says that the response may answer other requests too, so that no credential may be added from here on.
    ///
    /// - Parameters:
    ///   - element: the name of the element that calls this, as it is written in a chain: `cache`.
    ///   - alternative: a sentence about the other way to make a chain with a credential further inside work.
    public mutating func shareResponse(by element: String, alternative: String? = nil) {
        let outer = context.sharing.map { $0.outer + [$0.withoutOuter] } ?? []
        context.sharing = ResponseSharing(
            element: element,
            alternative: alternative,
            fields: headerFields,
            outer: outer
        )
    }

    /// Throws if an element outside may answer other requests with the response: see ``ResponseSharing``.
    ///
    /// Call it before a credential is added, and also where there is one to add only now and then: the order is wrong for
    /// each request, and the first should say so.
    ///
    /// - Parameters:
    ///   - element: the name of the element that calls this, as it is written in a chain: `bearerAuth`.
    ///   - changesEachTime: whether the credential differs for each request, as a signature with a date does. What shares
    ///     responses never finds two such requests alike, so the error doesn't suggest the other order.
    /// - Throws: ``ChainOrderError`` with ``ChainOrderError/Code/sharedResponse``.
    public func requireUnshared(by element: String, changesEachTime: Bool = false) throws {
        guard let sharing = context.sharing else { return }
        throw ChainOrderError.sharedResponse(of: self, sharing, with: element, changesEachTime: changesEachTime)
    }

    /// Throws if a credential was added where an element that shares responses can't see it.
    ///
    /// Called for each request at the end of its chain: where nothing shares, it must cost nothing but a look.
    @usableFromInline
    func requireSeenCredentials() throws {
        guard let sharing = context.sharing, let unseen = sharing.unseenField(in: headerFields) else { return }
        throw ChainOrderError.sharedResponse(of: self, unseen.element, withField: unseen.field.name)
    }
}

extension ResponseSharing {
    fileprivate var withoutOuter: Self {
        Self(element: element, alternative: alternative, fields: fields, outer: [])
    }
}
