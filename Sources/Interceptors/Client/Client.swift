public import Foundation

/// A chain with a base URL, an encoder, a decoder, and the verbs of HTTP.
///
/// ```swift
/// let api = Client(
///     baseURL: URL(string: "https://api.example.com/v1"),
///     interceptors: [.validateStatus(), .logging(.headers)]
/// )
///
/// let user: User = try await api.get("/users/42")
/// let created = try await api.post("/users", body: newUser, as: User.self)
/// try await api.delete("/users/42")
/// let response = try await api.send(HTTPRequest(url: url))
/// ```
///
/// ## Where a call goes
/// To a path below the base URL, with or without a leading slash, or to an absolute URL: ``RequestTarget`` has the rules.
/// Each request says in its context which origin the client is for: ``HTTPContext/clientOrigin``.
///
/// ## Fields
/// The fields of a call are the request's own: an interceptor's defaults don't replace them. Where neither the call nor
/// the chain says otherwise, `Accept` names what the decoder reads, and `Content-Type` what the encoder writes.
///
/// ## In a module of the main actor
/// Values are encoded and decoded off the caller's actor. Where declarations are the main actor's by default, as in a new app of
/// Xcode 26, their types must be declared as `nonisolated struct User: Decodable`; likewise endpoints and interceptors.
///
/// ## What a response becomes
/// | asked for | content | gives |
/// | --- | --- | --- |
/// | nothing, or ``NoContent`` | any | nothing: the content is discarded |
/// | `Data` | any | the bytes as they are |
/// | an optional | none | `nil` |
/// | any other type | none | ``DecodingFailure`` with ``DecodingFailure/Code/empty`` |
/// | any other type | some | what the decoder makes of it, or ``DecodingFailure`` |
///
/// It is the content that counts, not the status: 204, 205, a response to HEAD and an empty 200 are the same. Decoding
/// doesn't run on the caller's actor. A streamed response is collected first, up to 64 MiB.
///
/// An error page is never taken for a value: these forms refuse a response that isn't a 2xx by
/// ``DecodingFailure/Code/unsuccessfulStatus``, unless an interceptor took its status for a success
/// (``HTTPContext/isStatusAccepted``). An interceptor that validates the status throws an error of its own before that.
/// ``send(_:)-(HTTPRequest)`` and `head` give every response as it is.
///
/// A client is a `Transport` too: it can stand where a chain or a transport can.
public struct Client: Transport {
    /// What every request goes through.
    public let chain: InterceptorChain
    /// Where relative targets begin.
    public let baseURL: URL?
    /// Encodes the values that are sent.
    public let encoder: any BodyEncoder
    /// Decodes the values that come back.
    public let decoder: any BodyDecoder

    private let base: Result<URLText, any Error>?
    // Shared by the requests whose context is empty, so that it is made once.
    private let context: HTTPContext
    private let origin: Origin?

    /// A client.
    ///
    /// - Parameters:
    ///   - baseURL: an absolute http or https URL. Without it, every call must name one. If it can't be used, relative
    ///     calls fail with ``TransportError/Code/unsupportedURL``.
    ///   - interceptors: the outermost first. The array is taken literally: without one that follows redirects, none is
    ///     followed. (`Middlewares` has an initialiser without it, whose client follows redirects and does nothing else.)
    ///   - transport: what the innermost interceptor calls; by default the best one of the platform, with connections of
    ///     its own.
    ///   - encoder: encodes the values that are sent.
    ///   - decoder: decodes the values that come back.
    public init(
        baseURL: URL? = nil,
        interceptors: [any Interceptor],
        transport: any Transport = .platform(),
        encoder: any BodyEncoder = JSONEncoder(),
        decoder: any BodyDecoder = JSONDecoder()
    ) {
        self.chain = InterceptorChain(interceptors, transport: transport)
        self.baseURL = baseURL
        self.encoder = encoder
        self.decoder = decoder
        base = baseURL.map { url in Result { try URLText(base: url) } }
        // Of the URL as requests have it: the host of the one that was given may be spelled in Unicode.
        origin = (try? base?.get().url(madeFrom: "")).flatMap(Origin.init)
        var context = HTTPContext()
        if let origin { context.clientOrigin = origin }
        self.context = context
    }

    /// Sends a request through the chain and gives its response, whatever the status.
    ///
    /// A relative URL is taken for a path below the base URL.
    public func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        if request.url.scheme == nil { request.url = try url(for: RequestTarget(request.url)) }
        if request.context.isEmpty {
            request.context = context
        } else if let origin {
            request.context.clientOrigin = origin
        }
        return try await chain.send(request)
    }

    /// Sends what an endpoint describes and gives the response, whatever the status.
    public func send(_ endpoint: some Endpoint) async throws -> HTTPResponse {
        try await send(try await request(for: endpoint))
    }

    /// Sends what an endpoint describes and decodes the response.
    ///
    /// - Parameters:
    ///   - endpoint: what to send.
    ///   - type: what the response decodes to, if not what the endpoint says.
    public func call<E: Endpoint, Value: Decodable & Sendable>(
        _ endpoint: E,
        as type: Value.Type
    ) async throws -> Value {
        var request = try await request(for: endpoint)
        if type != NoContent.self, type != Data.self { request.fillIn(.accept, decoder.mediaType) }
        let method = request.method
        let url = request.url
        let response = try await send(request)
        return try await ResponseDecoding(decoder: decoder, method: method, url: url).value(type, of: response)
    }

    /// Sends what an endpoint describes and decodes the response to what it says.
    @discardableResult
    public func call<E: Endpoint>(_ endpoint: E) async throws -> E.Response {
        try await call(endpoint, as: E.Response.self)
    }
}

extension Client {
    private func request(for endpoint: some Endpoint) async throws -> HTTPRequest {
        var request = HTTPRequest(
            method: endpoint.method,
            url: try url(for: endpoint.path, query: endpoint.query),
            headerFields: endpoint.headerFields,
            context: endpoint.context
        )
        try await endpoint.body?.fill(&request, encodedBy: encoder)
        return request
    }

    private func url(for target: RequestTarget, query: HTTPQuery = HTTPQuery()) throws -> URL {
        var parts: URLText
        if URLText.isAbsolute(target.text) {
            parts = try URLText(absolute: target.text)
        } else if let base {
            parts = try base.get().joined(with: target.text)
        } else {
            throw URLText.failure("is a relative URL, and the client has no base URL to put before it", target.text)
        }
        parts.append(query: query.encoded)
        return try parts.url(madeFrom: target.text)
    }
}

extension Client: CustomStringConvertible {
    /// The base URL with secrets redacted, and how many interceptors there are.
    public var description: String {
        let base = baseURL.map { "\(Redaction.standard.string(for: $0)), " } ?? ""
        return "Client(\(base)\(chain.interceptors.count) interceptors)"
    }
}
