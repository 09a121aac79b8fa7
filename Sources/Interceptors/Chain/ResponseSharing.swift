internal import Foundation

/// An element of a chain that may answer several requests with one response, such as a cache.
///
/// The element can tell users apart only by the request as it arrives there. A credential added further inside stays unseen,
/// and one user could get another's response.
struct ResponseSharing: Sendable {
    /// The element's name as written in a chain, such as `cache`.
    let element: String
    /// The fields that the element has seen.
    private let fields: HTTPFields
    /// The URL that the element has seen.
    private let url: URL
    /// The outer elements that share responses, outermost first. They are stored here, and not beside this element, because most
    /// chains have one such element, and then no array is allocated.
    let outer: [ResponseSharing]

    init(_ element: String, seeing request: borrowing HTTPRequest, outer: [ResponseSharing] = []) {
        (self.element, fields, url, self.outer) = (element, request.headers, request.url, outer)
    }

    /// The outer elements and this one, outermost first.
    var all: [ResponseSharing] { outer + [self] }

    /// The first credential in the request that this element has not seen.
    func unseenCredential(in request: HTTPRequest) -> String? {
        unseenField(in: request.headers) ?? unseenQueryItem(in: request.url)
    }

    private func unseenField(in others: HTTPFields) -> String? {
        for index in others.indices {
            // Most fields keep their index, so this comparison avoids the search.
            if index < fields.count, fields[index] == others[index] { continue }
            if others[index].name.identifiesCaller, !fields.contains(others[index]) {
                return "the field \(others[index].name.rawName)"
            }
        }
        return nil
    }

    // If the path or host differs, a redirect was followed inside, and the query is the server's rather than a user's.
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

/// The notes, on a request, of the elements that may answer other requests with its response.
struct SharedExchange: Sendable {
    /// The innermost such element passed so far; `nil` if the request names a partition.
    var sharing: ResponseSharing?
    /// Sees where the exchange leads.
    var witness: RedirectWitness?
}

extension HTTPContext {
    private enum SharedExchangeKey: HTTPContextKey { static var defaultValue: SharedExchange { SharedExchange() } }

    var sharedExchange: SharedExchange {
        get { self[SharedExchangeKey.self] }
        set { self[SharedExchangeKey.self] = newValue }
    }

    /// On a request: the name of the innermost element passed so far that may answer other requests with this response, such as
    /// `cache`. `nil` if there is no such element, or if the request names a partition (``cachePartition``).
    public var sharedBy: String? { sharedExchange.sharing?.element }
}

extension HTTPRequest {
    /// Declares that the response may also answer other requests, so no credential may be added further inside, unless the
    /// request names a partition (``HTTPContext/cachePartition``).
    ///
    /// An interceptor that keeps or shares responses keys them by the caller, and declares this on each request it passes on. It
    /// keeps no response that a redirect led to (``isAnswered(by:)``):
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
    ///         let response = try await next(copy request)
    ///         if request.isAnswered(by: response) { await kept.keep(response, for: url, caller) }
    ///         return response
    ///     }
    /// }
    /// ```
    /// - Parameter element: the name of the calling element as written in a chain, such as `cache`.
    public mutating func shareResponse(by element: String) {
        var shared = context.sharedExchange
        shared.witness = RedirectWitness(inside: shared.witness)
        if context.namedPartition == nil {
            shared.sharing = ResponseSharing(element, seeing: self, outer: shared.sharing?.all ?? [])
        }
        context.sharedExchange = shared
    }

    /// Throws if an outer element may answer other requests with this response.
    ///
    /// Call it before adding a credential, and also for requests that need none: the order is wrong for every request, and the
    /// first should fail. If the credential isn't added as a field with a sensitive name, call ``identifyCaller(by:as:)``
    /// instead, with `nil` for a request without a credential.
    ///
    /// - Parameters:
    ///   - element: the name of the calling element as written in a chain, such as `bearerAuth`.
    ///   - changesEachTime: whether the credential differs for each request, as a signature with a date does. Sharing would
    ///     never find two such requests alike, so the error doesn't suggest the other order.
    /// - Throws: `TransportError` with `HTTPErrorCode.sharedResponse`.
    public func requireUnshared(by element: String, changesEachTime: Bool = false) throws {
        guard let sharing = context.sharedExchange.sharing else { return }
        let order = ([element] + sharing.all.map(\.element)).map { ".\($0)(…)" }.joined(separator: ", ")
        let remedy = changesEachTime ? nil : "Put \(sharing.element) after \(element): [\(order)]."
        throw sharedResponse(by: sharing.element, outside: element, remedy)
    }

    /// Throws if a credential was added where an element that shares responses can't see it.
    ///
    /// Called for each request at the end of its chain, so without a sharing element it must cost only one lookup.
    @usableFromInline
    func requireSeenCredentials() throws {
        guard let sharing = context.sharedExchange.sharing else { return }
        try requireSeenCredentials(by: sharing)
        for outer in sharing.outer.reversed() { try requireSeenCredentials(by: outer) }
    }

    private func requireSeenCredentials(by sharing: ResponseSharing) throws {
        guard let name = sharing.unseenCredential(in: self) else { return }
        throw sharedResponse(
            by: sharing.element,
            outside: "the interceptor that sets \(name)",
            "Put that interceptor before \(sharing.element) in the array, or call declareAnonymous() in it if the value is the"
                + " same for all users."
        )
    }

    private func sharedResponse(by element: String, outside other: String, _ remedy: String?) -> TransportError {
        let fault = "\(element) is outside of \(other) and can't see who asks"
        let naming = remedy.map { "\($0) Or name the account" } ?? "Name the account"
        return TransportError(
            .sharedResponse,
            "\(fault): one user could get the response of another. \(naming): request.context.cachePartition = account.id says"
                + " whose response it is. The request was not sent.",
            request: self
        )
    }
}
