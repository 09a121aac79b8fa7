public import Foundation
public import Interceptors

/// The chain of ten in `Docs/Performance.md`, and a server's response to it. ChainBenchmarks measures the chain, and
/// AllocationCheck limits its allocations.
public struct RealisticChain {
    /// The interceptors and their names, outermost first.
    public let named: [(name: String, interceptor: any Interceptor)]
    /// A user wrapped in an envelope.
    public let response: HTTPResponse

    /// Creates the chain and its response, for requests to a URL.
    public init(url: URL) {
        let tokens = TokenStore(TokenStore.Token("secret"), origins: Origin(url).map { [$0] }) { _ in
            throw CancellationError()
        }
        named = [
            ("unwrapEnvelope", .unwrapEnvelope(payload: "object")),
            ("validateStatus", .validateStatus()),
            ("headers", .headers([.accept: "application/json"])),
            ("transactionID", .transactionID()),
            ("followRedirects", .followRedirects()),
            ("retryOnUnauthorized", .retryOnUnauthorized(tokens)),
            ("bearerAuth", .bearerAuth(tokens)),
            ("cache(.memory())", .cache(.memory())),
            ("retry", .retry(.exponential(maxAttempts: 3))),
            ("logging(.headers)", .logging(.headers, to: LogSink { _ in })),
        ]
        response = HTTPResponse(
            status: 200,
            headers: [.contentType: "application/json"],
            body: #"{"code":200,"message":"ok","object":{"id":42,"name":"Ada"}}"#,
            url: url
        )
    }
}
