internal import Foundation

/// An element of a chain that may answer several requests with one response, such as a cache.
///
/// Such an element can tell users apart only by what a request carries when it arrives there. A credential that is added
/// further inside stays unseen, and one user would get the response of another.
///
/// ## Share responses
/// An interceptor that keeps or shares responses keys them by the caller, and says so on each request that it passes on:
///
/// ```swift
/// struct KeepsTheLast: Interceptor {
///     let kept = Kept()
///
///     func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
///         guard request.method == .get else { return try await next(request) }
///         let (url, caller) = (request.url, request.caller)
///         if let response = await kept.response(for: url, caller) { return response }
///         request.shareResponse(by: "keepsTheLast")
///         let response = try await next(request)
///         await kept.keep(response, for: url, caller)
///         return response
///     }
/// }
/// ```
/// ## Add credentials
/// An interceptor that adds what tells users apart says so, too. Inside of an element that shares, it throws instead:
///
/// ```swift
/// struct APIKeyInterceptor: Interceptor {
///     let key: String
///
///     func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
///         try request.identifyCaller(by: "apiKey", as: key)
///         request.headerFields["X-API-Key"] = key
///         return try await next(request)
///     }
/// }
/// ```
/// A chain also looks for itself: a field or a query item with a sensitive name (``Redaction/isSensitive(_:)``) that was added
/// or changed inside of such an element is refused before the transport gets the request. The call says which element added it,
/// works for any name, and fails the first request, not the first with a credential.
///
/// A chain can't see what a transport adds by itself, such as a client certificate, and loses sight where an interceptor makes
/// a new request instead of changing the one it is given. Name a partition there (``HTTPContext/cachePartition``).
public struct ResponseSharing: Sendable {
    /// The name of the element, as it is written in a chain: `cache`.
    public let element: String
    /// The fields that the element has seen.
    private let fields: HTTPFields
    /// The URL that the element has seen.
    private let url: URL
    /// The elements outside of this one that share responses, the outermost first.
    private let outer: [ResponseSharing]

    init(_ element: String, _ request: borrowing HTTPRequest, inside sharing: ResponseSharing?) {
        self.init(element, request.headerFields, request.url, outer: sharing.map { $0.outer + [$0.withoutOuter] } ?? [])
    }

    private init(_ element: String, _ fields: HTTPFields, _ url: URL, outer: [ResponseSharing]) {
        self.element = element
        self.fields = fields
        self.url = url
        self.outer = outer
    }

    private var withoutOuter: Self { Self(element, fields, url, outer: []) }

    /// The names of this element and those outside of it, the outermost first.
    var elements: [String] { outer.map(\.element) + [element] }

    /// The same elements, as if they had seen the request as it is now.
    func seeing(_ request: borrowing HTTPRequest) -> Self {
        let (fields, url) = (request.headerFields, request.url)
        return Self(element, fields, url, outer: outer.map { Self($0.element, fields, url, outer: []) })
    }

    /// The first credential that this element, or one outside of it, has not seen.
    func unseenCredential(in request: HTTPRequest) -> (name: String, element: ResponseSharing)? {
        if let name = unseenField(in: request.headerFields) ?? unseenQueryItem(in: request.url) { return (name, self) }
        for sharing in outer {
            if let unseen = sharing.unseenCredential(in: request) { return unseen }
        }
        return nil
    }

    private func unseenField(in others: HTTPFields) -> String? {
        for index in others.indices {
            // Most fields stay where they are.
            if index < fields.count, fields[index] == others[index] { continue }
            if Redaction.standard.isSensitive(others[index].name), !fields.contains(others[index]) {
                return "the field \(others[index].name.rawName)"
            }
        }
        return nil
    }

    // A redirect that was followed inside names another path or host: its query is the server's.
    private func unseenQueryItem(in other: URL) -> String? {
        let text = other.absoluteString
        guard text != url.absoluteString else { return nil }
        let (seen, now) = (Self.parts(of: url.absoluteString), Self.parts(of: text))
        guard seen.target == now.target else { return nil }
        for item in now.items where !seen.items.contains(item) {
            let encoded = item.prefix { $0 != "=" }
            let name = String(encoded).removingPercentEncoding ?? String(encoded)
            if Redaction.standard.isSensitive(name) { return "the query item \(name)" }
        }
        return nil
    }

    private static func parts(of url: String) -> (target: Substring, items: [Substring]) {
        let text = url.prefix { $0 != "#" }
        guard let mark = text.firstIndex(of: "?") else { return (text, []) }
        return (text[..<mark], text[text.index(after: mark)...].split(separator: "&"))
    }
}

extension HTTPContext {
    private enum SharingKey: HTTPContextKey { static var defaultValue: ResponseSharing? { nil } }

    /// On a request: the innermost element it has passed that may answer other requests with its response; `nil` if there
    /// is no such element, or if the request names whose the response is (``cachePartition``).
    public internal(set) var sharing: ResponseSharing? {
        get { self[SharingKey.self] }
        set { self[SharingKey.self] = newValue }
    }
}

extension HTTPRequest {
    /// Says that the response may answer other requests too, so that no credential may be added from here on. A request that
    /// names whose the response is (``HTTPContext/cachePartition``) is left as it is.
    ///
    /// - Parameter element: the name of the element that calls this, as it is written in a chain: `cache`.
    public mutating func shareResponse(by element: String) {
        if let partition = context.cachePartition, !partition.isEmpty { return }
        context.sharing = ResponseSharing(element, self, inside: context.sharing)
    }

    /// Throws if an element outside may answer other requests with the response: see ``ResponseSharing``.
    ///
    /// Call it before a credential is added, and also where there is one to add only now and then: the order is wrong for
    /// each request, and the first should say so. Where the credential isn't added as a field with a sensitive name, call
    /// ``identifyCaller(by:as:)`` instead.
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
        guard let sharing = context.sharing, let unseen = sharing.unseenCredential(in: self) else { return }
        throw ChainOrderError.sharedResponse(of: self, unseen.element, withCredential: unseen.name)
    }
}
