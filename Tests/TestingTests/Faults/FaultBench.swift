import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsTesting

let apiURL = URL(string: "https://api.example.com/users/42")!

/// Sends requests through faults to a server with ten bytes of content, in virtual time.
struct FaultBench {
    let clock = ManualClock()
    let recorder = Recorder { request in
        var response = HTTPResponse(status: 200, body: "0123456789", url: request.url)
        if request.context.responseBody == .streamed {
            response.body = .oneShot(Chunks(["01234", "56789"]), length: 10)
        }
        return response
    }

    func send(
        _ faults: Fault...,
        seed: UInt64 = 1,
        changing change: (inout HTTPRequest) throws -> Void = { _ in }
    ) async throws -> HTTPResponse {
        try await send(interceptor(faults, seed: seed), changing: change)
    }

    func send(
        _ faults: AnyInterceptor,
        changing change: (inout HTTPRequest) throws -> Void = { _ in }
    ) async throws -> HTTPResponse {
        var request = HTTPRequest(url: apiURL)
        try change(&request)
        return try await InterceptorChain([faults], transport: recorder).send(request)
    }

    private func interceptor(_ faults: [Fault], seed: UInt64 = 1) -> AnyInterceptor {
        AnyInterceptor(FaultsInterceptor(plan: FaultPlan(faults), isOn: { true }, time: .manual(clock, seed: seed)))
    }

    func code(
        _ faults: Fault...,
        changing change: (inout HTTPRequest) throws -> Void = { _ in }
    ) async throws -> HTTPErrorCode? {
        try await error(faults, changing: change)?.code
    }

    func error(
        _ faults: [Fault],
        changing change: (inout HTTPRequest) throws -> Void = { _ in }
    ) async throws -> TransportError? {
        do {
            _ = try await send(interceptor(faults), changing: change)
            return nil
        } catch let error as TransportError {
            #expect(error.message.contains("injected"))
            #expect(error.request?.url == apiURL.absoluteString)
            return error
        }
    }
}

/// The body's content as far as it can be read, and the error's code.
func readableContent(of body: HTTPBody) async throws -> (content: String, code: HTTPErrorCode?) {
    var content = ""
    do {
        for try await chunk in body { content += String(decoding: chunk, as: UTF8.self) }
        return (content, nil)
    } catch let error as TransportError {
        return (content, error.code)
    }
}

/// Cancels the task that it runs on.
func cancelThisTask() { withUnsafeCurrentTask { $0?.cancel() } }
