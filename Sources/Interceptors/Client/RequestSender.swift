internal import Foundation
internal import InterceptorsTransport

/// The client that made a request, in the request's context.
///
/// The reference is weak: a transport that keeps its requests, such as a stub, would otherwise keep its client, which keeps the
/// transport. While a call runs, the caller keeps the client; work that goes on without the caller keeps
/// ``HTTPContext/clientOwner``.
final class RequestSender: Sendable {
    let origin: Origin?
    private let owner: Weak

    // Not `weak let`, which needs Swift 6.2.3.
    private struct Weak {
        weak var settings: ClientSettings?
    }

    var settings: ClientSettings? { owner.settings }

    init(origin: Origin?, settings: ClientSettings? = nil) {
        self.origin = origin
        owner = Weak(settings: settings)
    }
}

/// The values that a client was made with.
final class ClientSettings: Sendable {
    private let chain: InterceptorChain
    private let baseURL: URL?
    private let encoder: any BodyEncoder
    private let decoder: any BodyDecoder

    init(_ chain: InterceptorChain, _ baseURL: URL?, _ encoder: any BodyEncoder, _ decoder: any BodyDecoder) {
        self.chain = chain
        self.baseURL = baseURL
        self.encoder = encoder
        self.decoder = decoder
    }

    /// A client with these values and the same chain.
    ///
    /// - Parameter caller: the observed step for which the client makes its calls.
    func client(for caller: (any ObservedStep)?) -> Client {
        Client(baseURL: baseURL, chain: chain, encoder: encoder, decoder: decoder, caller: caller)
    }
}
