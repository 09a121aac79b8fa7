import Foundation
import InterceptorsTesting
import InterceptorsTransport
import Testing

@Suite(.againstHanging) struct StubVerificationTests {
    let clock = ManualClock()
    let stub: StubTransport

    init() { stub = StubTransport(time: .manual(clock)) }

    private func problems() throws -> [String] {
        try #require(throws: StubVerificationError.self) { try stub.verify() }.problems
    }

    @Test func stubsAndAnswersThatWereNotUsedAreListedWithTheirLines() async throws {
        stub.on(.get, "/used", .status(200))
        let line = #line + 1
        stub.on(.get, "/unused?token=hush", .status(200))
        stub.on(.get, "/twice", .status(200), times: 2)
        stub.enqueue(.status(202))
        _ = try await stub.send(stubRequest("/used"))
        _ = try await stub.send(stubRequest("/twice"))
        let problems = try problems()
        try #require(problems.count == 3)
        #expect(problems[0] == "GET /unused?token=<redacted>: 200 OK, 0 bytes: used 0 times (\(#fileID):\(line))")
        #expect(problems[1].hasSuffix("used 1 of 2 times (\(#fileID):\(line + 1))"))
        #expect(problems[2].hasPrefix("queued 202 Accepted"))
        #expect(problems[2].hasSuffix("(\(#fileID):\(line + 2))"))
    }

    @Test func oneErrorListsEverything() async throws {
        stub.on(.get, "/unused", .status(200))
        stub.enqueue(.status(202))
        let error = #expect(throws: StubVerificationError.self) { try stub.verify() }
        #expect(error?.description.contains("GET /unused") == true)
        #expect(error?.description.contains("; queued 202 Accepted") == true)
        #expect(error?.description.contains("StubVerificationTests.swift:") == true)
    }

    @Test func requestThatStillWaitsIsListed() async throws {
        let stub = stub
        stub.on(.get, "/slow", .status(200).delayed(by: .seconds(1)))
        let call = Task { [request = try stubRequest("/slow?api_key=hush")] in try await stub.send(request) }
        await clock.sleepers(1)
        let problem = try #require(try problems().first)
        #expect(
            problem.hasPrefix("GET https://api.example.com/slow?api_key=<redacted>: has no response yet (\(#fileID):")
        )
        clock.advance(by: .seconds(1))
        _ = try await call.value
        try stub.verify()
    }

    @Test func requestWhoseBodyIsStillSentIsListed() async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 201) }
        let (body, feed) = AsyncStream.makeStream(of: Data.self)
        let reads = AsyncStream.makeStream(of: Void.self)
        let upload = HTTPBody.oneShot(
            AsyncStream<Data> {
                reads.continuation.yield()
                for await chunk in body { return chunk }
                return nil
            }
        )
        let call = Task { [request = try stubRequest("/up", .put, body: upload)] in try await stub.send(request) }
        for await _ in reads.stream { break }
        let error = #expect(throws: StubVerificationError.self) { try stub.verify() }
        #expect(error?.problems.count == 1)
        #expect(error?.problems.first?.hasSuffix("has no response yet") == true)
        feed.finish()
        _ = try await call.value
        try stub.verify()
    }

    @Test func streamedResponseThatIsNotReadToItsEndIsListed() async throws {
        stub.on(.get, "/film", .stream([Data("a".utf8), Data("b".utf8)]))
        var request = try stubRequest("/film")
        request.context.responseBody = .streamed
        let read = try await stub.send(request)
        _ = try await read.body.collect(upTo: 10)
        let open = try await stub.send(request)
        let problems = try problems()
        #expect(problems.count == 1)
        #expect(
            problems.first?.hasPrefix("GET https://api.example.com/film: its streamed response was neither") == true
        )
        #expect(problems.first?.contains("(\(#fileID):") == true)
        open.body.discard()
        try stub.verify()
    }

    @Test func failedAndCancelledRequestsLeaveNothingOver() async throws {
        let stub = stub
        stub.on(.get, "/fails", .failure(Offline()))
        stub.on(.get, "/never", .neverAnswer)
        await #expect(throws: Offline()) { try await stub.send(stubRequest("/fails")) }
        await #expect(throws: TransportError.self) { try await stub.send(stubRequest("/unknown")) }
        let call = Task { [request = try stubRequest("/never")] in try await stub.send(request) }
        await stub.requests(atLeast: 3)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        try stub.verify()
    }
}
