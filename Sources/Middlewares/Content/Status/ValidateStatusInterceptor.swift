internal import Foundation

/// The implementation of `.validateStatus(…)`, documented there.
struct ValidateStatusInterceptor: PlacedInterceptor {
    private let isAccepted: (@Sendable (HTTPResponse) -> Bool)?
    private let bodyLimit: Int
    /// The role for the linter, which never calls a closure of the caller's.
    private let role: ChainRole

    init(bodyLimit: Int, codes isAccepted: @escaping @Sendable (Int) -> Bool) {
        self.isAccepted = { isAccepted($0.status.code) }
        role = .validates.only(Self.linted.filter { !isAccepted($0) })
        self.bodyLimit = max(0, bodyLimit)
    }

    init(bodyLimit: Int, where isAccepted: (@Sendable (HTTPResponse) -> Bool)? = nil) {
        self.isAccepted = isAccepted
        role = isAccepted == nil ? .validates.only(Self.linted.subtracting([304])) : .validatesByClosure
        self.bodyLimit = max(0, bodyLimit)
    }

    @inline(__always)
    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard request.context.validatesStatus else { return try await next(request) }
        let method = request.method
        let url = request.url
        let isConditional = isAccepted == nil && Self.isConditional(request)
        let response = try await next(request)
        let isSuccessful = response.status.kind == .successful
        if isAccepted?(response) ?? Self.isSuccess(response.status, isConditional: isConditional) {
            guard !isSuccessful else { return response }
            var accepted = response
            accepted.context.validatesStatus = false
            return accepted
        }
        throw try await StatusError(response, method: method, url: url, bodyLimit: bodyLimit)
    }

    static func isSuccess(_ status: HTTPResponse.Status, isConditional: Bool) -> Bool {
        status.kind == .successful || status.code == 304 && isConditional
    }

    /// The statuses that other interceptors act on.
    private static let linted: Set<Int> = [301, 302, 303, 304, 307, 308, 401, 403, 404]

    private static let conditions: [HTTPField.Name] = [.ifNoneMatch, .ifModifiedSince]

    static func isConditional(_ request: HTTPRequest) -> Bool {
        request.headers.contains(anyOf: conditions)
            && (request.method == .get || request.method == .head)
    }

    // A range or a set is a closure here, which has no short form.
    var placement: [ChainRole] { isAccepted == nil ? [role, .set("")] : [role] }
}

extension StatusError {
    /// Creates the error for a response that `validateStatus` doesn't accept.
    init(_ response: HTTPResponse, method: HTTPRequest.Method, url: URL, bodyLimit: Int) async throws {
        try await self.init(response, method: method, url: url, bodyLimit: bodyLimit) { url in
            Self.message(for: response, from: url)
        }
    }

    /// The message about a response that `validateStatus` doesn't accept.
    static func message(for response: HTTPResponse, from url: URL) -> String {
        let status = PrintableText.line(response.status.description)
        if response.context.cacheOutcome?.result == .unsatisfiable {
            let isOffline = response.context.underlyingError == nil
            let cause = isOffline ? "nothing may be sent" : "the server could not be reached"
            return "\(status): \(cause), and nothing stored may be used."
        }
        if response.status == 407 {
            return
                "\(status): a proxy asks for a password, which belongs to the transport. CurlTransport(proxy: .url(…)) takes it"
                + " in the URL, http://user:password@proxy.example:3128."
        }
        if response.status == 304 {
            return
                "\(status) answers a conditional request, but the request at validateStatus was not conditional. The inner"
                + " interceptor that adds the condition must handle the 304, or validateStatus must accept 304."
        }
        let remedy =
            "and nothing inside validateStatus followed it. To follow it, put .followRedirects() after .validateStatus() in the"
            + " array."
        let redirect = response.unfollowedRedirect(from: url, remedy: remedy)
        return "\(status) \(redirect ?? "is not an accepted status.")"
    }
}

extension Interceptor where Self == AnyInterceptor {
    /// Throws a `StatusError` unless the status is 2xx, or 304 to a request that was conditional.
    ///
    /// ```swift
    /// let interceptors: [any Interceptor] = [
    ///     .validateStatus(),                              // 2xx
    ///     // or .validateStatus(200..<400)                // a range
    ///     // or .validateStatus([200, 404])               // these alone
    ///     // or .validateStatus { $0.status.kind != .serverError }
    ///     .retryOnUnauthorized(tokens), .bearerAuth(tokens),
    /// ]
    /// ```
    /// ## Order
    /// - Outermost, or nearly: outside all interceptors that handle a status (redirects, a refresh after a 401, a retry, a
    ///   cache). Further inside, the error would be thrown before they see the status.
    ///
    /// ## 304
    /// Without an argument, the interceptor accepts 2xx, and a 304 response to a GET or HEAD that was already conditional here
    /// (`If-None-Match` or `If-Modified-Since`): a caller that asks for changes gets that response (RFC 9110 §15.4.5). A 304 to
    /// a condition that an inner interceptor added is an error. A range, a set or a closure alone decides about 304.
    ///
    /// ## One call
    /// To get the response whatever its status, switch the check off for the call. The ``Client`` then also decodes the
    /// response:
    ///
    /// ```swift
    /// let problem: Problem = try await api.get("/users/42", context: .with(\.validatesStatus, false))
    /// ```
    /// ## The body
    /// An accepted response stays unchanged, except that one with a status other than 2xx is marked as accepted
    /// (`HTTPContext.validatesStatus`), so that a ``Client`` decodes it. For a rejected response, the error keeps the body
    /// up to a limit, and the rest is discarded. The request's time limits also apply to reading that body.
    ///
    /// - Parameter bodyLimit: the maximum number of bytes of the body to keep in an error; 64 KiB by default.
    public static func validateStatus(bodyLimit: Int = 64 << 10) -> Self {
        Self(ValidateStatusInterceptor(bodyLimit: bodyLimit))
    }

    /// Throws a `StatusError` unless the status code lies in the range. See ``validateStatus(bodyLimit:)``.
    public static func validateStatus(
        _ range: some RangeExpression<Int> & Sendable,
        bodyLimit: Int = 64 << 10
    ) -> Self {
        Self(ValidateStatusInterceptor(bodyLimit: bodyLimit, codes: { range.contains($0) }))
    }

    /// Throws a `StatusError` unless the set contains the status code. See ``validateStatus(bodyLimit:)``.
    public static func validateStatus(_ codes: Set<Int>, bodyLimit: Int = 64 << 10) -> Self {
        Self(ValidateStatusInterceptor(bodyLimit: bodyLimit, codes: { codes.contains($0) }))
    }

    /// Throws a `StatusError` unless the closure accepts the response. See ``validateStatus(bodyLimit:)``.
    public static func validateStatus(
        bodyLimit: Int = 64 << 10,
        where isAccepted: @escaping @Sendable (HTTPResponse) -> Bool
    ) -> Self {
        Self(ValidateStatusInterceptor(bodyLimit: bodyLimit, where: isAccepted))
    }
}
