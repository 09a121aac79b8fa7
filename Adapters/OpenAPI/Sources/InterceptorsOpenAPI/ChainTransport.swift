public import Foundation
public import HTTPTypes
public import Interceptors
internal import InterceptorsHTTPTypes
public import OpenAPIRuntime

/// Sends the requests of a client that Swift OpenAPI Generator made through a chain of interceptors.
///
/// ```swift
/// let chain = InterceptorChain([.retryOnUnauthorized(tokens), .bearerAuth(tokens), .retry(maxAttempts: 3)], transport: .platform())
/// let client = Client(serverURL: try Servers.Server1.url(), transport: ChainTransport(chain))
/// ```
/// The origin of the server's URL counts as the client's (``HTTPContext/clientOrigin``), so that tokens go to no other. Interceptors
/// find the operation's name in ``HTTPContext/operationID``.
///
/// The runtime wraps errors of the chain in its `ClientError`, as `underlyingError`.
public struct ChainTransport: ClientTransport {
    private let chain: any Transport
    private let context: HTTPContext

    /// Creates a transport that sends through a chain, or through any other transport of this package.
    ///
    /// - Parameters:
    ///   - chain: the chain.
    ///   - context: the context of each request. By default, responses are read into memory up to 64 MiB, so that they can be
    ///     shared and retried. With `.with(\.responseBody, .streamed)`, operations get them as streams.
    public init(_ chain: any Transport, context: HTTPContext = HTTPContext()) {
        self.chain = chain
        self.context = context
    }

    /// Sends a request of an operation.
    ///
    /// - Throws: ``TransportError`` if the server's URL and the operation's path make no http or https URL; errors of the chain.
    public func send(
        _ request: HTTPTypes.HTTPRequest,
        body: OpenAPIRuntime.HTTPBody?,
        baseURL: URL,
        operationID: String
    ) async throws -> (HTTPTypes.HTTPResponse, OpenAPIRuntime.HTTPBody?) {
        var outgoing = try Interceptors.HTTPRequest(
            request.located(at: baseURL),
            body: body.map(Interceptors.HTTPBody.init) ?? .empty,
            context: context
        )
        outgoing.context.operationID = operationID
        if outgoing.context.clientOrigin == nil { outgoing.context.clientOrigin = Origin(baseURL) }
        let response = try await chain.send(outgoing)
        let hasContent = request.method != .head && response.status != 204 && response.status != 304
        return (try HTTPTypes.HTTPResponse(response), hasContent ? OpenAPIRuntime.HTTPBody(response.body) : nil)
    }
}

extension HTTPTypes.HTTPRequest {
    /// The request of an operation, whose path is relative to the server's URL.
    fileprivate func located(at baseURL: URL) throws -> HTTPTypes.HTTPRequest {
        let base = try HTTPTypes.HTTPRequest(Interceptors.HTTPRequest(url: baseURL))
        let basePath = base.path?.prefix { $0 != "?" } ?? ""
        var request = self
        request.scheme = base.scheme
        request.authority = base.authority
        request.path = (basePath.hasSuffix("/") ? basePath.dropLast() : basePath) + (path ?? "/")
        return request
    }
}

extension Interceptors.HTTPBody {
    /// Content of an operation. If it can be read again, a retry can send it again.
    fileprivate init(_ body: OpenAPIRuntime.HTTPBody) {
        let length: Int64? = if case .known(let length) = body.length { length } else { nil }
        let chunks = DataChunks(body: body)
        switch body.iterationBehavior {
        case .single: self = .oneShot(chunks, length: length)
        case .multiple: self = .restartable(length: length) { chunks }
        }
    }
}

extension OpenAPIRuntime.HTTPBody {
    fileprivate convenience init(_ body: Interceptors.HTTPBody) {
        if let bytes = body.data {
            self.init(bytes)
        } else {
            let length = body.length.map(Length.known) ?? .unknown
            let behavior: IterationBehavior = body.isRestartable ? .multiple : .single
            self.init(ByteChunks(body: body), length: length, iterationBehavior: behavior)
        }
    }
}

private struct DataChunks: AsyncSequence, Sendable {
    let body: OpenAPIRuntime.HTTPBody

    struct Iterator: AsyncIteratorProtocol {
        var chunks: OpenAPIRuntime.HTTPBody.AsyncIterator

        mutating func next() async throws -> Data? { try await next(isolation: #isolation) }

        mutating func next(isolation actor: isolated (any Actor)?) async throws -> Data? {
            try await chunks.next(isolation: actor).map { Data($0) }
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(chunks: body.makeAsyncIterator()) }
}

private struct ByteChunks: AsyncSequence, Sendable {
    let body: Interceptors.HTTPBody

    struct Iterator: AsyncIteratorProtocol {
        var chunks: Interceptors.HTTPBody.AsyncIterator

        mutating func next() async throws -> ArraySlice<UInt8>? { try await next(isolation: #isolation) }

        mutating func next(isolation actor: isolated (any Actor)?) async throws -> ArraySlice<UInt8>? {
            try await chunks.next(isolation: actor).map { ArraySlice($0) }
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(chunks: body.makeAsyncIterator()) }
}

extension HTTPContext {
    private enum OperationKey: HTTPContextKey { static var defaultValue: String? { nil } }

    /// On a request: the ID of the OpenAPI operation that it is made for.
    public var operationID: String? {
        get { self[OperationKey.self] }
        set { self[OperationKey.self] = newValue }
    }
}
