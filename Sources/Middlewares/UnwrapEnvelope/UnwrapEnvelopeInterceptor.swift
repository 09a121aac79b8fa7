internal import Foundation

/// Takes payloads out of the envelopes that an API wraps them in, and makes errors of those that hold a failure.
///
/// Of `{"code":200,"object":{"id":42},"message":"OK"}` the caller sees `{"id":42}`; of
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
/// ## Place
/// Outermost, with what else judges the final answer: those below see envelopes as they came, and redirects, retries and
/// 401s are dealt with before an error is made of them. The exception is an API that hides a 401 in an envelope of a 200:
/// there it stands *inside* `retryOnUnauthorized`, which is told to take the ``EnvelopeError`` for one.
///
/// ## What it looks at
/// - A body in memory, whatever its `Content-Type`: servers send JSON as `text/html`.
/// - A streamed body only if its `Content-Type` is JSON; it is then collected, up to a limit. All others pass unread.
/// - Nothing else: a HEAD, a 204, 205, 206 or 304, an empty body, and any status it isn't told to judge, passes as it is.
///   These are by default 3xx, 401 and 407, which belong to those who redirect and authenticate.
///
/// ## What it makes of it
/// - **Success**: the body is the payload, byte for byte as the server wrote it; `null` stays `null`, a payload that is
///   missing is an empty body. `Content-Length` is set right where it was, digests of the old content are removed, all
///   other fields stay.
/// - **Failure**: an ``EnvelopeError`` with ``EnvelopeError/Reason/refused``.
/// - **No envelope** (no JSON object, or one without that by which success is judged) or broken JSON: it passes or fails,
///   as `otherwise` says. Where a chain also fetches what has no envelope, images for instance, let it pass. What is broken *inside* a payload, beyond brackets that don't match and strings that don't end,
///   is left for its decoder to find.
/// - With a **status other than 2xx**, an envelope of failure is an ``EnvelopeError`` too, which carries the status. All
///   else passes as it is, whatever `otherwise` says, for who judges the status.
///
/// Bodies are UTF-8. They are searched in one pass and not decoded; large ones not on the caller's actor.
public struct UnwrapEnvelopeInterceptor: Interceptor {
    enum Form: Sendable {
        case body(EnvelopePaths)
        // Indirect, so that a form is one reference: it is copied for each response.
        indirect case fields(EnvelopeFields, flag: HTTPField.Name?)
    }

    let form: Form
    let success: Envelope.Success
    let otherwise: Envelope.Otherwise
    let limit: Int
    let judges: @Sendable (HTTPResponse.Status) -> Bool

    /// Passes a request on, and opens the envelope of its response.
    @inline(__always)
    public func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        let method = request.method
        let url = request.url
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
        // Not consumed, it would stay in this frame, and keep the bytes of the whole envelope until the call ends.
        return try await openElsewhere(consume response, paths, from: origin)
    }

    // Below it, a hop to another thread takes longer than the work.
    static let hopThreshold = 16 << 10

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
            guard let error = error as? TransportError, error.url == nil else { throw error }
            // Whoever reads a body doesn't know of the request.
            let request = HTTPRequest(method: origin.method, url: origin.url)
            throw TransportError(error.code, error.message, request: request, underlying: error.underlying)
        }
    }
}
