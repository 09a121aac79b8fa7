internal import Foundation

/// The implementation of `.unwrapEnvelope(…)`, documented there.
struct UnwrapEnvelopeInterceptor: PlacedInterceptor {
    let paths: EnvelopePaths
    let success: Envelope.Success
    let passesOthers: Bool
    let limit: Int
    let keepsEnvelope: Bool
    let isUnwrapped: @Sendable (HTTPResponse.Status) -> Bool
    /// Keeps an inner cache from storing responses that become errors. Created once, because each request carries it.
    private var condition: StoringCondition?

    init(
        paths: EnvelopePaths,
        success: Envelope.Success,
        passesOthers: Bool,
        limit: Int,
        keepsEnvelope: Bool,
        where isUnwrapped: (@Sendable (HTTPResponse.Status) -> Bool)?
    ) {
        self.paths = paths
        self.success = success
        self.passesOthers = passesOthers
        self.limit = limit
        self.keepsEnvelope = keepsEnvelope
        // Redirects and authentication handle the others.
        self.isUnwrapped = isUnwrapped ?? { $0.kind != .redirection && $0.code != 401 && $0.code != 407 }
        let judge = self
        condition = StoringCondition { !judge.refuses($0) }
    }

    @inline(__always)
    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        let method = request.method
        let url = request.url
        let step = request.context.observedStep
        // A cache stores responses to GET only.
        if method == .get, let condition {
            request.context.storingCondition = condition.and(request.context.storingCondition)
        }
        let response = try await next(request)
        guard isUnwrapped(response.status), response.status.code != 304 else { return response }
        let origin = EnvelopeOrigin(method: method, url: response.url ?? url, step: step)
        let length = response.body.length
        guard !(204...206).contains(response.status.code), method != .head, length != 0 else { return response }
        let isInMemory = response.body.isInMemory
        if isInMemory, let length, length < Self.hopThreshold { return try open(response, from: origin) }
        guard isInMemory || response.headers.isJSON else { return response }
        // Without `consume`, this frame would keep the bytes of the whole envelope alive until the call ends.
        return try await openElsewhere(consume response, from: origin)
    }

    // For smaller bodies, a hop to another thread takes longer than the scan.
    static let hopThreshold = StoringCondition.hopThreshold

    private func open(
        _ response: consuming HTTPResponse,
        from origin: EnvelopeOrigin
    ) throws -> HTTPResponse {
        try open(&response, from: origin)
        return response
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
