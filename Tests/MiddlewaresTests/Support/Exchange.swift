import Foundation
import Interceptors
import Synchronization

/// A transport made from a closure. It keeps the requests that it receives.
final class Recorder: Transport {
    private let sent = Mutex<[HTTPRequest]>([])
    private let answer: @Sendable (HTTPRequest) async throws -> HTTPResponse

    init(_ answer: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse = { _ in HTTPResponse(status: 200) })
    {
        self.answer = answer
    }

    var requests: [HTTPRequest] { sent.withLock { $0 } }

    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        let request = request
        sent.withLock { $0.append(request) }
        return try await answer(request)
    }
}

/// Sends the request twice and returns the second response, as a retry does.
let sendTwice: some Interceptor = AnyInterceptor.intercept { request, next in
    let first = try await next(request)
    first.body.discard()
    return try await next(request)
}

func url(_ text: String) throws -> URL {
    guard let url = URL(string: text) else { throw URLError(.badURL) }
    return url
}
