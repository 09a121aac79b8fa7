public import Foundation

/// A chain with a base URL, an encoder, a decoder and a method for each HTTP verb.
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
/// let (users, page) = try await api.response("/users", as: [User].self)
/// try await api.download("/users/42/photo", to: file)
/// let response = try await api.send(HTTPRequest(url: url))
/// ```
///
/// ## Where a call goes
/// A call goes to a path below the base URL, with or without a leading slash, or to an absolute URL: ``RequestTarget`` has the
/// rules. Each request carries the origin of the base URL in its context: ``InterceptorsTransport/HTTPContext/clientOrigin``.
///
/// ## Fields
/// An interceptor's default fields don't replace the call's fields. If neither the call nor the chain sets them, `Accept` names
/// the decoder's media type and `Content-Type` the encoder's.
///
/// ## With main-actor isolation by default
/// Values are encoded and decoded off the caller's actor. If your module defaults to `@MainActor` (new Xcode 26 apps do),
/// declare their types `nonisolated`, as in `nonisolated struct User: Decodable`. Mark endpoints and interceptors `nonisolated`
/// too.
///
/// ## How a response becomes a value
/// | requested type | content | result |
/// | --- | --- | --- |
/// | none, or ``NoContent`` | any | nothing: the content is discarded |
/// | `Data` | any | the bytes as they are |
/// | `String` | any | the text, by its charset or byte order mark |
/// | an optional | none | `nil` |
/// | any other type | none | ``ResponseDecodingError`` with ``InterceptorsTransport/HTTPErrorCode/emptyBody`` |
/// | any other type | some | the decoded value, or ``ResponseDecodingError`` |
///
/// Only the content matters, not the status: a 204, a 205, a response to HEAD and an empty 200 are handled alike. Decoding runs
/// off the caller's actor. A streamed response is collected first, up to 64 MiB.
///
/// Typed calls never decode an error page. If a response isn't a 2xx, they throw ``InterceptorsTransport/HTTPErrorCode/unacceptedStatus``,
/// unless an interceptor accepted the status (``InterceptorsTransport/HTTPContext/validatesStatus``). An interceptor that validates the status
/// throws its own error earlier. ``send(_:)-(HTTPRequest)`` and `head` return every response unchanged.
///
/// A client is a `Transport` too: pass one wherever a chain or a transport is expected.
public struct Client: Transport {
    // Requests refer to it weakly.
    private let settings: ClientSettings
    // Built once and shared by all requests whose own context is empty.
    private let context: HTTPContext
    private let caller: (any ObservedStep)?

    /// The chain that every request passes through.
    public var chain: InterceptorChain { settings.chain }
    /// The URL that relative targets are appended to.
    public var baseURL: URL? { settings.baseURL }
    /// Encodes the values of requests.
    public var encoder: any BodyEncoder { settings.encoder }
    /// Decodes the values of responses.
    public var decoder: any BodyDecoder { settings.decoder }

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - baseURL: an absolute http or https URL. Without a base URL, every call must name an absolute URL. If the base URL is
    ///     invalid, relative calls fail with `TransportError.unsupportedURL`.
    ///   - interceptors: the interceptors, outermost first. Nothing is added to the array: redirects are followed only if an
    ///     interceptor follows them. (The module of the interceptors has an initializer without this parameter, whose client follows redirects
    ///     and does nothing else.)
    ///   - transport: the transport that the innermost interceptor calls. By default the platform's best, with a separate
    ///     connection pool.
    ///   - encoder: encodes the values of requests.
    ///   - decoder: decodes the values of responses.
    ///   - observer: watches each element of the chain; by default none.
    @inline(never)  // The compiler would copy it, and what it calls, into other initializers.
    public init(
        baseURL: URL? = nil,
        interceptors: [any Interceptor],
        transport: any Transport = .platform(),
        encoder: any BodyEncoder = JSONEncoder(),
        decoder: any BodyDecoder = JSONDecoder(),
        observer: (any ChainObserver)? = nil
    ) {
        let chain = InterceptorChain(interceptors, transport: transport, observer: observer)
        #if DEBUG
        FindingReport.write { chain.findings.map(\.description) }
        #endif
        self.init(ClientSettings(chain, baseURL, encoder, decoder))
    }

    /// - Parameter caller: the observed step for which the client makes its calls.
    init(_ settings: ClientSettings, for caller: (any ObservedStep)? = nil) {
        self.settings = settings
        self.caller = caller
        let sender = RequestSender(origin: settings.origin, settings: settings, caller: caller)
        context = HTTPContext.with(\.sender, sender)
    }

    /// Sends a request through the chain and returns its response, whatever the status.
    ///
    /// A relative URL is treated as a path below the base URL.
    public func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        // Requests refer to the settings weakly.
        defer { withExtendedLifetime(settings) {} }
        if request.url.scheme == nil { request.url = try url(for: RequestTarget(request.url)) }
        guard !request.context.isEmpty else {
            request.context = context
            return try await chain.send(request)
        }
        #if DEBUG
        // Only of the outermost client, because inner interceptors set deadlines too.
        let given = request.context
        if given.sender == nil { FindingReport.write { chain.ungrantedWishes(of: given) } }
        #endif
        // Without a base URL, the origin is that of the client that sent the request before.
        let previous = settings.origin == nil ? request.context.clientOrigin : nil
        let sender = previous.map { RequestSender(origin: $0, settings: settings, caller: caller) }
        request.context.sender = sender ?? context.sender
        let validatesStatus = request.context.validatesStatus
        var response = try await chain.send(request)
        if !validatesStatus { response.context.validatesStatus = false }
        return response
    }

    /// Sends an endpoint's request and returns the response, whatever the status.
    public func send(_ endpoint: some Endpoint) async throws -> HTTPResponse {
        try await send(try await request(for: endpoint))
    }

    /// Sends an endpoint's request and decodes the response as the given type.
    ///
    /// - Parameters:
    ///   - endpoint: the endpoint to call.
    ///   - type: the type to decode, in place of the endpoint's `Response`.
    public func call<Value: Decodable & Sendable>(_ endpoint: some Endpoint, as type: Value.Type) async throws -> Value
    {
        try await response(to: try await request(for: endpoint), as: type).value
    }

    /// Sends an endpoint's request and decodes the response as the endpoint's `Response`.
    @discardableResult
    public func call<E: Endpoint>(_ endpoint: E) async throws -> E.Response { try await response(to: endpoint).value }

    /// Sends an endpoint's request, and returns the decoded value with its response.
    ///
    /// ```swift
    /// let creation: EndpointRequest<Film> = .post("/films", body: film)
    /// let (created, response) = try await api.response(to: creation)
    /// print(response.headers[.location] ?? "")
    /// ```
    public func response<E: Endpoint>(to endpoint: E) async throws -> (value: E.Response, response: HTTPResponse) {
        try await response(to: try await request(for: endpoint), as: E.Response.self)
    }
}

extension Client {
    /// Sends a request and decodes the response.
    func response<Value: Decodable & Sendable>(
        to request: consuming HTTPRequest,
        as type: Value.Type
    ) async throws -> (value: Value, response: HTTPResponse) {
        if type != NoContent.self, type != Data.self, type != String.self { request.fillIn(.accept, decoder.mediaType) }
        let decoding = ResponseDecoding(decoder: decoder, request)
        let response = try await send(request)
        return (try await decoding.value(type, of: response), response)
    }

    /// The request that calling an endpoint sends, before the chain changes it: with the base URL and the encoded content.
    ///
    /// ```swift
    /// #expect(try await api.request(for: GetUser(id: 42)).url.path == "/users/42")
    /// ```
    /// - Throws: `TransportError` with `HTTPErrorCode.unsupportedURL`; the errors of the endpoint and of the encoder.
    public func request(for endpoint: some Endpoint) async throws -> HTTPRequest {
        var request = try await makeRequest(try endpoint.request)
        request.context.endpoint = endpoint
        return request
    }

    /// The request of a verb, which carries no endpoint: an interceptor would learn nothing from it that the request doesn't say.
    package func makeRequest(_ parts: EndpointRequest<some Any>) async throws -> HTTPRequest {
        var request = HTTPRequest(
            method: parts.method,
            url: try url(for: parts.path, query: parts.query),
            headers: parts.headers,
            context: parts.context
        )
        try await parts.body?.fill(&request, encodedBy: encoder)
        return request
    }

    /// The absolute URL that a call to a target goes to.
    ///
    /// - Throws: `TransportError` with `HTTPErrorCode.unsupportedURL`.
    package func url(for target: RequestTarget, query: HTTPQuery = HTTPQuery()) throws -> URL {
        guard !target.beginsWithValue else {
            let problem = "begins with an encoded path or URL: write .init(text: …), or a slash before it"
            throw URLText.failure(problem, target.text)
        }
        var parts: URLText
        if URLText.isAbsolute(target.text) {
            parts = try URLText(absolute: target.text)
        } else if let base = settings.base {
            parts = try base.get().joined(with: target.text)
        } else {
            throw URLText.failure("is a relative URL, and the client has no base URL to put before it", target.text)
        }
        parts.append(query: query.encoded)
        return try parts.url(madeFrom: target.text)
    }
}

extension Client {
    /// The redactions that say which fields are credentials: the standard one, those of the chain's elements and that of its observer.
    ///
    /// A name counts as secret if any of them says so, because a field that a log hides must not go to another origin.
    package var redactions: [Redaction] {
        ([.standard] + LintedChain(chain).elements.map(\.redaction) + [chain.observer?.redaction]).compactMap(\.self)
    }
}

extension Client: ChainedTransport {
    func with(_ chain: InterceptorChain) -> Client {
        Client(ClientSettings(chain, baseURL, encoder, decoder), for: caller)
    }
}

extension Client: ForwardingTransport {
    package var targets: [any Transport]? { [chain] }
}

extension Client: CustomStringConvertible {
    /// The base URL with secrets redacted, and the number of interceptors.
    public var description: String {
        let base = baseURL.map { "\(Redaction.standard.string(for: $0)), " } ?? ""
        return "Client(\(base)\(chain.interceptors.count) interceptors)"
    }
}
