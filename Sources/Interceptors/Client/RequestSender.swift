internal import Foundation
internal import InterceptorsTransport

/// The client that made a request, in the request's context.
///
/// The reference is weak: a transport that keeps its requests, such as a stub, would otherwise keep its client, which keeps the
/// transport. While a call runs, the caller keeps the client; work that goes on without the caller keeps
/// ``HTTPContext/clientOwner``.
final class RequestSender: Sendable {
    let origin: Origin?
    /// The observed step for which the client makes the call.
    let caller: (any ObservedStep)?
    private let owner: Weak

    // Not `weak let`, which needs Swift 6.2.3.
    private struct Weak {
        weak var settings: ClientSettings?
    }

    var settings: ClientSettings? { owner.settings }

    init(origin: Origin?, settings: ClientSettings? = nil, caller: (any ObservedStep)? = nil) {
        (self.origin, self.caller) = (origin, caller)
        owner = Weak(settings: settings)
    }
}

/// The values that a client was made with, shared by its copies.
final class ClientSettings: Sendable {
    let chain: InterceptorChain
    let baseURL: URL?
    let encoder: any BodyEncoder
    let decoder: any BodyDecoder
    let base: Result<URLText, any Error>?
    /// Taken from the URL that requests will have, because the given base URL may spell its host in Unicode.
    let origin: Origin?

    init(_ chain: InterceptorChain, _ baseURL: URL?, _ encoder: any BodyEncoder, _ decoder: any BodyDecoder) {
        (self.chain, self.baseURL, self.encoder, self.decoder) = (chain, baseURL, encoder, decoder)
        base = baseURL.map { url in Result { try URLText(base: url) } }
        origin = (try? base?.get().url(madeFrom: "")).flatMap(Origin.init)
    }
}
