internal import Foundation

/// Replaces envelopes with their payloads, and throws an error for an envelope that reports a failure.
///
/// For `{"code":200,"object":{"id":42},"message":"OK"}` the caller receives `{"id":42}`; for
/// `{"code":1005,"message":"No such user"}` an ``EnvelopeError`` with that code and message.
///
/// ```swift
/// .unwrapEnvelope(payload: "object")
/// .unwrapEnvelope(payload: "data.result", code: "errcode", message: "errmsg", success: .codes(0))
/// .unwrapEnvelope(payload: "data", success: .flag("success"), otherwise: .pass)
/// .unwrapEnvelope(payload: "data", success: .custom { $0.text(at: "status") == "done" })
/// .unwrapEnvelope(headers: .standard)
/// ```
///
/// ## Order
/// - Outermost, next to other interceptors that check the final response. Inner interceptors then see envelopes unchanged, and
///   handle redirects, retries and 401s before an error is thrown.
/// - If an API hides a 401 in an envelope with status 200, *inside* `retryOnUnauthorized`, configured to treat the
///   ``EnvelopeError`` as a 401.
///
/// An inner cache doesn't store a response that this interceptor turns into an error, whatever the response's `max-age`. Nor
/// does it store streamed JSON, because the envelope is only known at its end.
///
/// ## Which responses it checks
/// - A body in memory, whatever its `Content-Type`, because some servers send JSON as `text/html`.
/// - A streamed body only if its `Content-Type` is JSON; the interceptor collects it, up to a limit. Other streams pass
///   unread.
/// - Never the response to a HEAD, a 204, 205, 206 or 304, an empty body, or a status that `judges` excludes. By default
///   that excludes 3xx, 401 and 407, which redirects and authentication handle.
///
/// ## Results
/// - **Success**: the body becomes the payload, byte for byte as the server wrote it; `null` stays `null`, and a missing
///   payload becomes an empty body. `Content-Length`, if present, is updated, digests of the old content are removed, and
///   all other fields stay. With `keepsEnvelope`, the response's context has the envelope too (``HTTPContext/envelope``).
/// - **Failure**: throws an ``EnvelopeError`` with ``EnvelopeError/Reason/refused``.
/// - **No envelope** (the body isn't a JSON object, or lacks the value that decides success) or malformed JSON: passes or
///   fails, as `otherwise` says. Choose `.pass` if the chain also fetches other content, such as images. Inside a payload,
///   only unmatched brackets and unterminated strings are detected; the payload's decoder finds other errors.
/// - **A status other than 2xx**: an envelope of failure throws an ``EnvelopeError`` too, with the status. Any other
///   response passes unchanged, whatever `otherwise` says, so that an outer interceptor can check the status.
///
/// Bodies are UTF-8. A body is scanned in one pass without decoding, and a large body off the caller's actor.
public struct UnwrapEnvelopeInterceptor: Interceptor {
    enum Form: Sendable {
        case body(EnvelopePaths)
        // Indirect, so that copying a form for each response copies one reference.
        indirect case fields(EnvelopeFields, flag: HTTPField.Name?)
    }

    let form: Form
    let success: Envelope.Success
    let otherwise: Envelope.NonEnvelopePolicy
    let limit: Int
    let keepsEnvelope: Bool
    let judges: @Sendable (HTTPResponse.Status) -> Bool
    /// Keeps an inner cache from storing responses that become errors. Created once, because each request carries it.
    private var condition: StoringCondition?

    init(
        form: Form,
        success: Envelope.Success,
        otherwise: Envelope.NonEnvelopePolicy,
        limit: Int,
        keepsEnvelope: Bool,
        judges: @escaping @Sendable (HTTPResponse.Status) -> Bool
    ) {
        self.form = form
        self.success = success
        self.otherwise = otherwise
        self.limit = limit
        self.keepsEnvelope = keepsEnvelope
        self.judges = judges
        let judge = self
        condition = StoringCondition { !judge.refuses($0) }
    }

    /// Passes the request on and unwraps the response.
    @inline(__always)
    public func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        let method = request.method
        let url = request.url
        // A cache stores responses to GET only.
        if method == .get, let condition { request.context.storingConditions.append(condition) }
        let response = try await next(request)
        guard judges(response.status), response.status.code != 304 else { return response }
        let origin = EnvelopeOrigin(method: method, url: response.url ?? url)
        let paths: EnvelopePaths
        switch form {
        case .fields(let fields, let flag):
            return try await judgeFields(of: response, fields, flag: flag, from: origin)
        case .body(let wanted): paths = wanted
        }
        let length = response.body.length
        guard !(204...206).contains(response.status.code), method != .head, length != 0 else { return response }
        let isInMemory = response.body.isInMemory
        if isInMemory, let length, length < Self.hopThreshold { return try open(response, paths, from: origin) }
        guard isInMemory || response.headerFields.isJSON else { return response }
        // Without `consume`, this frame would keep the bytes of the whole envelope alive until the call ends.
        return try await openElsewhere(consume response, paths, from: origin)
    }

    // For smaller bodies, a hop to another thread takes longer than the scan.
    static let hopThreshold = StoringCondition.hopThreshold

    private func open(
        _ response: consuming HTTPResponse,
        _ paths: EnvelopePaths,
        from origin: EnvelopeOrigin
    ) throws -> HTTPResponse {
        try open(&response, paths, from: origin)
        return response
    }

    @concurrent
    private func openElsewhere(
        _ response: consuming HTTPResponse,
        _ paths: EnvelopePaths,
        from origin: EnvelopeOrigin
    ) async throws -> HTTPResponse {
        if response.body.bytes == nil { response.body = try await collected(response.body, from: origin) }
        try open(&response, paths, from: origin)
        return response
    }

    private func collected(_ body: HTTPBody, from origin: EnvelopeOrigin) async throws -> HTTPBody {
        do {
            return HTTPBody(try await body.collect(upTo: limit))
        } catch {
            guard let error = error as? TransportError, error.request == nil else { throw error }
            // The reader of a body doesn't know the request, so name it here.
            let request = HTTPRequest(method: origin.method, url: origin.url)
            throw TransportError(error.code, error.message, request: request, underlying: error.underlying)
        }
    }
}
