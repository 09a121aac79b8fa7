internal import Foundation

/// The implementation of `.unwrapEnvelope(…)`, documented there.
struct UnwrapEnvelopeInterceptor: PlacedInterceptor {
    let paths: EnvelopePaths
    let success: Envelope.Success
    let passesOthers: Bool
    let limit: Int
    let keepsEnvelope: Bool
    let isUnwrapped: @Sendable (HTTPResponse.Status) -> Bool
    /// Keeps an inner cache from storing responses that become errors. The factory creates it once: each request carries it.
    var condition: StoringCondition?

    @inline(__always)
    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        let method = request.method
        let url = request.url
        let step = request.context.observedStep
        // A cache stores responses to GET only.
        if method == .get, let condition {
            request.context.storingCondition = condition.and(request.context.storingCondition)
        }
        var response = try await next(request)
        guard method != .head, mayHaveEnvelope(response) else { return response }
        let origin = EnvelopeOrigin(method: method, url: response.url ?? url, step: step)
        // For smaller bodies, a hop to another thread takes longer than the scan.
        if response.body.isInMemory, let length = response.body.length, length < StoringCondition.hopThreshold {
            try open(&response, from: origin)
            return response
        }
        // Without `consume`, this frame would keep the bytes of the whole envelope alive until the call ends.
        return try await openElsewhere(consume response, from: origin)
    }

    @concurrent
    private func openElsewhere(
        _ response: consuming HTTPResponse,
        from origin: EnvelopeOrigin
    ) async throws -> HTTPResponse {
        if response.body.data == nil { response.body = try await collected(response.body, from: origin) }
        try open(&response, from: origin)
        return response
    }

    private func collected(_ body: HTTPBody, from origin: EnvelopeOrigin) async throws -> HTTPBody {
        do {
            return HTTPBody(try await body.collect(upTo: limit))
        } catch {
            guard let error = error as? TransportError, error.request == nil else { throw error }
            // The reader of a body doesn't know the request, so name it here.
            throw error.withRequest(HTTPRequest(method: origin.method, url: origin.url))
        }
    }

    var placement: [ChainRole] {
        [paths.payload.isEmpty ? .changesResponse : .unwraps, .buffers]
    }
}

/// The method and URL that an error reports for a response, and the step that gets the notes about it.
struct EnvelopeOrigin: Sendable {
    let method: HTTPRequest.Method
    let url: URL
    let step: (any ObservedStep)?
}
