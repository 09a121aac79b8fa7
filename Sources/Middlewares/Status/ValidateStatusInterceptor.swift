/// Throws a ``StatusError`` for a response whose status is not wanted.
///
/// ```swift
/// let interceptors: [any Interceptor] = [
///     .validateStatus(),                              // 2xx
///     // or .validateStatus(200..<400)                // a range
///     // or .validateStatus([200, 404])               // these alone
///     // or .validateStatus { $0.status.kind != .serverError }
///     .retryOnUnauthorized(tokens),
/// ]
/// ```
/// ## Its place
/// Outermost, or nearly: outside all that handles a status itself (redirects, a refresh after a 401, a retry, a cache),
/// which would otherwise never see it.
///
/// ## 304
/// Without an argument it lets through 2xx, and a 304 that answers a GET or HEAD which was conditional already when it
/// came here (`If-None-Match` or `If-Modified-Since`): who asks whether something has changed gets the answer (RFC 9110
/// §15.4.5). Where a condition was added further inside, a 304 that comes out is an error. A range, a set or a closure is
/// taken at its word.
///
/// ## The body
/// A response that is let through is not touched, except that one whose status isn't a 2xx is marked as accepted
/// (``HTTPContext/isStatusAccepted``), so that a ``Client`` decodes it. The body of one that is not is read for the error up to a limit, and the
/// rest is discarded; how long that may take is for the request's time limits.
public struct ValidateStatusInterceptor: Interceptor {
    private let isAccepted: (@Sendable (HTTPResponse) -> Bool)?
    private let bodyLimit: Int

    /// Lets through 2xx, and a 304 that was asked for.
    ///
    /// - Parameter bodyLimit: the most bytes of the body that an error keeps; 64 KiB by default.
    public init(bodyLimit: Int = 64 << 10) {
        self.isAccepted = nil
        self.bodyLimit = max(0, bodyLimit)
    }

    /// Lets through what the closure accepts.
    ///
    /// - Parameters:
    ///   - bodyLimit: the most bytes of the body that an error keeps; 64 KiB by default.
    ///   - isAccepted: whether a response is wanted.
    public init(bodyLimit: Int = 64 << 10, where isAccepted: @escaping @Sendable (HTTPResponse) -> Bool) {
        self.isAccepted = isAccepted
        self.bodyLimit = max(0, bodyLimit)
    }

    /// Passes the request on, and judges the response.
    ///
    /// - Throws: ``StatusError``; `CancellationError` if the task is cancelled while the body of an error is read.
    @inline(__always)
    public func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        let method = request.method
        let url = request.url
        let isConditional = isAccepted == nil && Self.isConditional(request)
        let response = try await next(request)
        let isSuccessful = response.status.kind == .successful
        if isAccepted?(response) ?? Self.isSuccess(response.status, isConditional: isConditional) {
            guard !isSuccessful else { return response }
            var accepted = response
            accepted.context.isStatusAccepted = true
            return accepted
        }
        throw try await StatusError(response, method: method, url: url, bodyLimit: bodyLimit)
    }

    static func isSuccess(_ status: HTTPResponse.Status, isConditional: Bool) -> Bool {
        status.kind == .successful || status.code == 304 && isConditional
    }

    private static let conditions: [HTTPField.Name] = [.ifNoneMatch, .ifModifiedSince]

    static func isConditional(_ request: HTTPRequest) -> Bool {
        request.headerFields.contains(anyOf: conditions)
            && (request.method == .get || request.method == .head)
    }
}

extension Interceptor where Self == ValidateStatusInterceptor {
    /// Throws a ``StatusError`` unless the status is 2xx, or a 304 that was asked for: see ``ValidateStatusInterceptor``.
    ///
    /// - Parameter bodyLimit: the most bytes of the body that an error keeps; 64 KiB by default.
    public static func validateStatus(bodyLimit: Int = 64 << 10) -> Self { Self(bodyLimit: bodyLimit) }

    /// Throws a ``StatusError`` unless the code lies in the range: see ``ValidateStatusInterceptor``.
    public static func validateStatus(
        _ range: some RangeExpression<Int> & Sendable,
        bodyLimit: Int = 64 << 10
    ) -> Self {
        Self(bodyLimit: bodyLimit) { range.contains($0.status.code) }
    }

    /// Throws a ``StatusError`` unless the code is one of these: see ``ValidateStatusInterceptor``.
    public static func validateStatus(_ codes: Set<Int>, bodyLimit: Int = 64 << 10) -> Self {
        Self(bodyLimit: bodyLimit) { codes.contains($0.status.code) }
    }

    /// Throws a ``StatusError`` unless the closure accepts the response: see ``ValidateStatusInterceptor``.
    public static func validateStatus(
        bodyLimit: Int = 64 << 10,
        where isAccepted: @escaping @Sendable (HTTPResponse) -> Bool
    ) -> Self {
        Self(bodyLimit: bodyLimit, where: isAccepted)
    }
}
