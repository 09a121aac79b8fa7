internal import Foundation
internal import Interceptors

extension TransportConformance {
    static let failureRules: [Rule] = [
        rule("aTruncatedResponseIsAnError") { bench in
            for answer in [MockResponse.closeInBody(after: 3, of: 10), .closeInChunks(after: [Data("abc".utf8)])] {
                try await bench.inBothModes { mode in
                    bench.server.enqueue(answer)
                    try await expectFailure(.truncated) {
                        let response = try await bench.send(try bench.request(mode: mode))
                        _ = try await bench.text(response)
                    }
                }
            }
        },
        rule("aConnectionClosedBeforeTheHeadIsLost") { bench in
            for answer in [MockResponse.closeBeforeHead, .reset] {
                bench.server.on(.post, "/", answer)
                try await expectFailure(.connectionLost) {
                    _ = try await bench.send(try bench.request("/", .post, body: "x"))
                }
            }
        },
        rule("aConnectionClosedWithinTheHeadIsAnError") { bench in
            bench.server.enqueue(.closeInHead)
            try await expectFailure(.connectionLost, .truncated, .invalidResponse) {
                _ = try await bench.send(try bench.request())
            }
        },
        rule("garbageIsAnError") { bench in
            for answer in [MockResponse.garbage, .raw("\r\n\r\n\r\n"), .raw("HTTP/1.1 abc\r\n\r\n"), .raw("{}\n")] {
                bench.server.enqueue(answer)
                try await expectFailure(.invalidResponse, .connectionLost, .truncated) {
                    _ = try await bench.send(try bench.request())
                }
            }
        },
        rule("noServerIsAnError") { bench in
            bench.server.stop()
            try await expectFailure(.cannotConnect) { _ = try await bench.send(try bench.request()) }
        },
        rule("anUnknownHostIsAnError") { bench in
            guard let url = URL(string: "http://nobody.invalid/") else { return }
            try await expectFailure(.cannotFindHost) { _ = try await bench.send(HTTPRequest(url: url)) }
        },
        rule("errorsNameTheRequestWithoutItsSecrets") { bench in
            bench.server.on(.get, "/**", MockResponse.closeBeforeHead)
            do {
                _ = try await bench.send(try bench.request("/path?token=hush&x=1"))
            } catch {
                var dumped = ""
                dump(error, to: &dumped)
                let text = "\(error) \(String(reflecting: error)) \(dumped)"
                try expect(text.contains("/path"), "the error doesn't name the request: \(text)")
                return try expect(!text.contains("hush"), "the error tells a secret")
            }
            throw Violation(description: "The call succeeded.")
        },
        rule("anIdempotentRequestSurvivesAStaleConnection") { bench in
            bench.server.on(.get, "/", MockResponse(body: "ok"))
            _ = try await bench.send(try bench.request())
            bench.server.closeConnections()
            let response = try await bench.send(try bench.request())
            try expect(try await bench.text(response), is: "ok", "content")
        },
        rule("aFailureLeavesTheTransportUsable") { bench in
            bench.server.enqueue(.garbage, .closeInBody(after: 1, of: 2), MockResponse(body: "fine"))
            for _ in 0..<2 { _ = try? await bench.send(try bench.request()) }
            let response = try await bench.send(try bench.request())
            try expect(try await bench.text(response), is: "fine", "content")
        },
    ]

    static let timeRules: [Rule] = [
        rule("theWholeCallHasALimit") { bench in
            bench.server.on(.get, "/", .neverAnswer)
            let timeouts = Timeouts(idle: nil, whole: .milliseconds(500))
            try await expectTimeout(bench, timeouts, after: .milliseconds(500))
        },
        rule("silenceHasALimit") { bench in
            bench.server.on(.get, "/", .neverAnswer)
            try await expectTimeout(bench, Timeouts(idle: .milliseconds(1900)), after: .milliseconds(1900))
        },
        rule("silenceWithinTheContentHasALimit") { bench in
            let steps: [MockResponse.Step] = [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .waitForever]
            bench.server.on(.get, "/", MockResponse(steps: steps))
            var request = try bench.request(mode: .streamed)
            request.context.timeouts = Timeouts(idle: .seconds(2))
            let response = try await bench.send(request)
            var iterator = response.body.makeAsyncIterator()
            _ = try await iterator.next()
            await bench.clock.sleepers(1)
            bench.clock.advance(by: .seconds(10))
            try await expectFailure(.timedOut) { while try await iterator.next() != nil {} }
        },
    ]

    private static func expectTimeout(_ bench: Bench, _ timeouts: Timeouts, after limit: Duration) async throws {
        try await expectFailure(.timedOut) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                let request = try bench.request(timeouts: timeouts)
                group.addTask { _ = try await bench.send(request) }
                _ = await bench.server.received(1)
                await bench.clock.sleepers(1)
                // A little late: the limit may have begun to count a moment after the clock was read.
                bench.clock.advance(by: limit + .milliseconds(1))
                try await group.waitForAll()
            }
        }
    }

    static let cancellationRules: [Rule] = [
        rule("aCancelledCallEndsAtOnce") { bench in
            bench.server.on(.get, "/", .neverAnswer)
            let request = try bench.request()
            let call = Task { try await bench.send(request) }
            _ = await bench.server.received(1)
            call.cancel()
            try await expectCancellation { _ = try await call.value }
            await bench.server.closedConnections(1)
        },
        rule("aCallCancelledBeforeItBeginsSendsNothing") { bench in
            bench.server.on(.get, "/", MockResponse())
            let request = try bench.request()
            let call = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await bench.send(request)
            }
            try await expectCancellation { _ = try await call.value }
            try expect(bench.server.requests.count, is: 0, "requests that reached the server")
        },
        rule("aCancelledReaderEndsItsTransfer") { bench in
            let steps: [MockResponse.Step] = [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .waitForever]
            bench.server.on(.get, "/", MockResponse(steps: steps))
            let response = try await bench.send(try bench.request(mode: .streamed))
            let reading = Task { for try await _ in response.body { withUnsafeCurrentTask { $0?.cancel() } } }
            try await expectCancellation { try await reading.value }
            await bench.server.closedConnections(1)
        },
        rule("aDroppedBodyEndsItsTransfer") { bench in
            let steps: [MockResponse.Step] = [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .waitForever]
            bench.server.on(.get, "/", MockResponse(steps: steps))
            _ = try await bench.send(try bench.request(mode: .streamed))
            await bench.server.closedConnections(1)
        },
        rule("everyOneOfManyCallsEndsOnce") { bench in
            bench.server.on(.get, "/ok/*", MockResponse(body: "ok"))
            bench.server.on(.get, "/lost/*", .closeBeforeHead)
            bench.server.on(.get, "/cut/*", .closeInBody(after: 1, of: 2))
            bench.server.on(.get, "/never/*", .neverAnswer)
            let kinds = ["ok", "lost", "cut", "never"]
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for index in 0..<200 {
                    let kind = kinds[index % 4]
                    let request = try bench.request("/\(kind)/\(index)")
                    group.addTask {
                        let call = Task { try await bench.send(request) }
                        if kind == "never" { call.cancel() }
                        let succeeded = (try? await call.value) != nil
                        return succeeded == (kind == "ok")
                    }
                }
                for try await isRight in group { try expect(isRight, "a call ended wrongly") }
            }
        },
    ]

    private static func expectCancellation(_ call: () async throws -> Void) async throws {
        do {
            try await call()
        } catch is CancellationError {
            return
        }
        throw Violation(description: "The cancelled call succeeded.")
    }
}
