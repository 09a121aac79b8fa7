import Foundation
import InterceptorsInsight
import InterceptorsTestSupport
import Testing

@testable import InterceptorsTesting

// Responses that are lost or truncated after the request was sent.
@Suite(.againstHanging) struct LostResponseTests {
    private let bench = FaultBench()

    @Test func aResetLosesTheResponseOfASentRequest() async throws {
        #expect(try await bench.code(.reset) == .connectionLost)
        #expect(bench.recorder.requests.count == 1)
    }

    @Test(arguments: [true, false]) func aLostResponseIsDroppedAtItsHead(isReset: Bool) async throws {
        let stub = StubTransport()
        stub.on(nil, "**", .data(Data(count: 1_000)))
        let progress = Tally()
        var request = HTTPRequest(url: apiURL)
        request.context.responseBody = .buffered(upTo: 10)
        request.context.downloadProgress = { _ in progress.count() }
        let fault = isReset ? Fault.reset : .timeout
        let chain = InterceptorChain([.faults(fault, time: .manual(bench.clock))], transport: stub)
        let task = Task { [request] in try await chain.send(request) }
        if !isReset {
            await bench.clock.sleepers(1)
            bench.clock.advance(by: .seconds(60))
        }
        await #expect {
            try await task.value
        } throws: {
            ($0 as? TransportError)?.code == (isReset ? .connectionLost : .timedOut)
        }
        #expect(progress.value == 0)
        #expect(stub.openBodies == 0)
    }

    @Test(arguments: [Fault.reset, .timeout, .truncation])
    func aCancelledCallGetsNoInjectedError(fault: Fault) async throws {
        let recorder = Recorder { _ in
            cancelThisTask()
            return HTTPResponse(status: 200, body: "content")
        }
        let chain = InterceptorChain([.faults(fault, time: .manual(bench.clock))], transport: recorder)
        let task = Task { try await chain.send(HTTPRequest(url: apiURL)) }
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}

// Truncation.
extension LostResponseTests {
    private static let seeds = 1...20 as ClosedRange<UInt64>

    private func stream(_ request: inout HTTPRequest) { request.context.responseBody = .streamed }

    private func chain(_ body: @escaping @Sendable () -> HTTPBody, seed: UInt64 = 1) -> InterceptorChain {
        let recorder = Recorder { _ in HTTPResponse(status: 200, body: body()) }
        return InterceptorChain([.faults(.truncation, time: TimeSource(random: .seeded(seed)))], transport: recorder)
    }

    @Test func aTruncatedBufferedResponseFails() async throws {
        #expect(try await bench.code(.truncation) == .truncated)
        #expect(bench.recorder.requests.count == 1)
    }

    @Test func aTruncatedStreamEndsWithTheErrorAfterAPart() async throws {
        var parts: Set<String> = []
        for seed in Self.seeds {
            let response = try await bench.send(.truncation, seed: seed, changing: stream)
            let (content, code) = try await readableContent(of: response.body)
            #expect(code == .truncated)
            #expect("0123456789".hasPrefix(content) && content.count < 10)
            parts.insert(content)
        }
        #expect(parts.count > 5)
        #expect(parts.contains { $0.count > 5 }, "The first chunk has five bytes.")
    }

    @Test func aStreamOfUnknownLengthEndsInsideItsFirstChunk() async throws {
        var parts: Set<String> = []
        for seed in Self.seeds {
            let chain = chain({ .oneShot(Chunks(["01234", "56789"])) }, seed: seed)
            let (content, code) = try await readableContent(of: chain.send(HTTPRequest(url: apiURL)).body)
            #expect(code == .truncated)
            #expect("01234".hasPrefix(content) && content.count < 5)
            parts.insert(content)
        }
        #expect(parts.count > 2)
    }

    @Test(arguments: [nil, 10] as [Int64?]) func theJournalNotesWhereAStreamEnded(length: Int64?) async throws {
        let journal = Journal()
        let recorder = Recorder { _ in
            HTTPResponse(status: 200, body: .oneShot(Chunks(["01234", "56789"]), length: length))
        }
        let faults = AnyInterceptor.faults(.truncation, time: TimeSource(random: .seeded(4)))
        let client = Client(baseURL: apiURL, interceptors: [faults], transport: recorder, observer: journal)
        let response = try await client.send(HTTPRequest(url: apiURL))
        let content = try await readableContent(of: response.body).content
        let notes = journal.calls.flatMap { $0.root?.notes ?? [] }.map(\.description)
        #expect(notes == ["fault: truncation: the content ends after \(content.count) bytes"])
    }

    @Test func aTruncatedStreamDiscardsItsSourceWithTheError() async throws {
        let stub = StubTransport()
        stub.on(nil, "**", .data(Data(count: 2_000)))
        var request = HTTPRequest(url: apiURL)
        stream(&request)
        for seed in Self.seeds {
            let chain = InterceptorChain(
                [.faults(.truncation, time: TimeSource(random: .seeded(seed)))],
                transport: stub
            )
            let response = try await chain.send(request)
            #expect(response.body.length == 2_000)
            #expect(stub.openBodies == 1)
            var chunks = response.body.makeAsyncIterator()
            await #expect(throws: TransportError.self) { while try await chunks.next() != nil {} }
            #expect(stub.openBodies == 0)
        }
    }

    @Test func aCancelledReaderGetsNoInjectedError() async throws {
        let chain = chain { .oneShot(Chunks(["0123456789"])) }
        var request = HTTPRequest(url: apiURL)
        stream(&request)
        let response = try await chain.send(request)
        let task = Task {
            var iterator = response.body.makeAsyncIterator()
            _ = try await iterator.next()
            cancelThisTask()
            _ = try await iterator.next()
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func aResponseWithoutContentIsNotTruncated() async throws {
        let recorder = Recorder { request in
            switch request.url.path {
            case "/none": HTTPResponse(status: 204)
            default: HTTPResponse(status: 200, body: .oneShot(Chunks([])))
            }
        }
        let chain = InterceptorChain([.faults(.truncation)], transport: recorder)
        let none = try url("https://api.example.com/none")
        #expect(try await chain.send(HTTPRequest(url: none)).status == 204)
        let empty = try url("https://api.example.com/empty")
        let (content, code) = try await readableContent(of: chain.send(HTTPRequest(url: empty)).body)
        #expect(content.isEmpty && code == nil)
    }

    @Test(arguments: [ResponseBodyMode.buffered, .streamed])
    func aTruncatedRedirectIsFollowed(mode: ResponseBodyMode) async throws {
        let recorder = Recorder { request in
            guard request.url == apiURL else { return HTTPResponse(status: 200) }
            let body: HTTPBody = mode == .streamed ? .oneShot(Chunks(["moved"]), length: 5) : "moved"
            return HTTPResponse(status: 302, headers: [.location: "/elsewhere"], body: body, url: request.url)
        }
        let faults = AnyInterceptor.faults(.truncation)
        var request = HTTPRequest(url: apiURL)
        request.context.responseBody = mode
        let chain = InterceptorChain([.followRedirects(), faults], transport: recorder)
        #expect(try await chain.send(request).status == 200)
        guard mode == .buffered else { return }
        await #expect(throws: TransportError.self, "Nobody follows the redirect.") {
            try await InterceptorChain([faults], transport: recorder).send(request)
        }
    }
}
