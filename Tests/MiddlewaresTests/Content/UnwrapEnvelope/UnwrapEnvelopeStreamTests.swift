import Dispatch
import Foundation
import Interceptors
import InterceptorsTestSupport
import Testing

extension UnwrapEnvelopeInterceptorTests {
    // MARK: Streams

    private func streamed(_ chunks: Chunks, type: String?) -> HTTPResponse {
        var fields = HTTPFields()
        fields[.contentType] = type
        return HTTPResponse(status: 200, headers: fields, body: .oneShot(chunks))
    }

    @Test(arguments: ["application/json", "Application/JSON ; charset=utf-8", "application/hal+json", "text/json"])
    func aStreamOfJSONIsCollectedAndUnwrapped(type: String) async throws {
        let response = streamed(Chunks([#"{"code":2"#, #"00,"obj"#, #"ect":[1]}"#]), type: type)
        let unwrapped = try await send(response, through: .unwrapEnvelope(payload: "object"))
        #expect(unwrapped.body.data == Data("[1]".utf8))
    }

    @Test(arguments: [nil, "text/event-stream", "application/x-ndjson", "application/json-seq", "image/png", ""])
    func anyOtherStreamPassesUnread(type: String?) async throws {
        let reads = Tally()
        let response = streamed(Chunks(["data: {}\n"], reads: reads), type: type)
        let passed = try await send(response, through: .unwrapEnvelope(payload: "object"))
        #expect(reads.value == 0 && passed.body.isReadable && passed.body.data == nil)
        #expect(try await passed.body.collect(upTo: 100) == Data("data: {}\n".utf8))
    }

    @Test func aStreamBeyondTheLimitFailsAndIsLetGo() async throws {
        for length in [nil, Int64(46)] {
            let discards = Tally()
            let body = HTTPBody.oneShot(Chunks([envelope]), length: length) { discards.count() }
            let response = HTTPResponse(status: 200, headers: [.contentType: "application/json"], body: body)
            let error = try await #require(throws: TransportError.self) {
                try await send(response, through: .unwrapEnvelope(payload: "object", limit: 45))
            }
            #expect(error.code == .bodyTooLarge)
            #expect(discards.value > 0)
        }
    }

    @Test func aStreamBeyondTheLimitIsAnErrorThatNamesTheRequest() async throws {
        let body = HTTPBody.oneShot(Chunks([envelope]))
        let response = HTTPResponse(status: 200, headers: [.contentType: "application/json"], body: body)
        let error = try await #require(throws: TransportError.self) {
            try await send(response, through: .unwrapEnvelope(payload: "object", limit: 45))
        }
        #expect(error.request?.method == .get && error.request?.url.hasPrefix("https://") == true, "\(error)")
    }

    @Test func cancellingWhileAStreamIsCollectedThrowsCancellationError() async throws {
        let (begun, began) = AsyncStream<Void>.makeStream()
        let body = HTTPBody.oneShot(NoChunks(began: began))
        let response = HTTPResponse(status: 200, headers: [.contentType: "application/json"], body: body)
        let task = Task { try await send(response, through: .unwrapEnvelope(payload: "object")) }
        for await _ in begun { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func errorsFromFurtherInsideReachTheCaller() async throws {
        let chain = InterceptorChain(
            [.unwrapEnvelope(payload: "object")],
            transport: Recorder { _ in throw TransportError(.timedOut, "Too late.") }
        )
        let request = HTTPRequest(url: try url("https://a.example"))
        await #expect(throws: TransportError.self) { try await chain.send(request) }
    }

    // MARK: Where the work is done

    @Test(arguments: [(100, true), (1 << 20, false)])
    func onlyLargeBodiesLeaveTheCallersActor(size: Int, stays: Bool) async throws {
        let caller = MarkedActor()
        let interceptor = AnyInterceptor.unwrapEnvelope(
            payload: "object",
            success: .custom { _ in
                #expect(caller.executor.isCurrent == stays)
                return true
            }
        )
        let body = "{\"code\":200,\"object\":\"\(String(repeating: "x", count: size))\"}"
        let chain = InterceptorChain(
            [interceptor],
            transport: Recorder { _ in HTTPResponse(status: 200, body: HTTPBody(body)) }
        )
        #expect(
            try await caller.send(HTTPRequest(url: url("https://a.example")), through: chain).length == Int64(size + 2)
        )
    }

    @Test func oneInterceptorServesManyRequestsAtOnce() async throws {
        let interceptor = AnyInterceptor.unwrapEnvelope(payload: "object")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<300 {
                group.addTask {
                    let size = number % 3 == 0 ? 20_000 : 20
                    let text = "\"\(number)\(String(repeating: "x", count: size))\""
                    let unwrapped = try await payload(of: "{\"code\":200,\"object\":\(text)}", interceptor)
                    #expect(unwrapped == text)
                }
            }
            try await group.waitForAll()
        }
    }
}

/// An actor that can tell whether code runs on it.
private actor MarkedActor {
    nonisolated let executor = MarkedExecutor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func send(_ request: HTTPRequest, through chain: InterceptorChain) async throws -> HTTPBody {
        #expect(executor.isCurrent)
        return try await chain.send(request).body
    }
}

private final class MarkedExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "caller")
    private let mark = DispatchSpecificKey<Bool>()

    init() { queue.setSpecific(key: mark, value: true) }

    var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) ?? false }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
