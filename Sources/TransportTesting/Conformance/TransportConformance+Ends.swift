internal import Foundation
internal import Interceptors

// Calls that end before their response: by a time limit or by cancellation.
extension TransportConformance {
    static let timeRules: [Rule] = [
        rule("theWholeCallHasALimit") { bench in
            bench.server.on(.get, "/", .neverAnswer)
            let timeouts = Timeouts(idle: nil, total: .milliseconds(500))
            try await expectTimeout(bench, timeouts, after: .milliseconds(500))
        },
        rule("silenceHasALimit") { bench in
            bench.server.on(.get, "/", .neverAnswer)
            try await expectTimeout(bench, Timeouts(idle: .milliseconds(1900)), after: .milliseconds(1900))
        },
        wireRule("theWholeCallsLimitBoundsTheContentToo") { bench in
            bench.server.on(.get, "/", .stallInBody(after: Data("abc".utf8), of: 9))
            let timeouts = Timeouts(idle: nil, total: .seconds(2))
            let response = try await bench.send(try bench.request(mode: .streamed, timeouts: timeouts))
            var iterator = response.body.makeAsyncIterator()
            _ = try await iterator.next()
            await bench.clock.sleepers(1)
            bench.clock.advance(by: .seconds(2) + .milliseconds(1))
            try await expectFailure(.timedOut) { while try await iterator.next() != nil {} }
        },
        wireRule("silenceWithinTheContentHasALimit") { bench in
            bench.server.on(.get, "/", .stallInBody(after: Data("abc".utf8), of: 9))
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
                _ = await bench.server.requests(atLeast: 1)
                await bench.clock.sleepers(1)
                // Slightly past the limit, which may have started a moment after the clock was read.
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
            _ = await bench.server.requests(atLeast: 1)
            call.cancel()
            try await expectCancellation { _ = try await call.value }
            await bench.server.closedConnections(1)
        },
        rule("aCallCancelledBeforeItBeginsSendsNothing") { bench in
            bench.server.on(.get, "/", .status(200))
            let request = try bench.request()
            let call = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await bench.send(request)
            }
            try await expectCancellation { _ = try await call.value }
            try expect(bench.server.requests.count, is: 0, "requests that reached the server")
        },
        rule("aCancelledReaderEndsItsTransfer") { bench in
            bench.server.on(.get, "/", .stallInBody(after: Data("abc".utf8), of: 9))
            let response = try await bench.send(try bench.request(mode: .streamed))
            let reading = Task { for try await _ in response.body { withUnsafeCurrentTask { $0?.cancel() } } }
            try await expectCancellation { try await reading.value }
            await bench.server.closedConnections(1)
        },
        rule("aDroppedBodyEndsItsTransfer") { bench in
            bench.server.on(.get, "/", .stallInBody(after: Data("abc".utf8), of: 9))
            _ = try await bench.send(try bench.request(mode: .streamed))
            await bench.server.closedConnections(1)
        },
        rule("cancellingOneCallLeavesTheOthersAlone") { bench in
            let gates = (0..<4).map { _ in AsyncStream.makeStream(of: Void.self) }
            bench.server.on(.get, "/*") { request in
                for await _ in gates[Int(request.path.dropFirst()) ?? 0].stream {}
                return MockResponse.status(200, body: "ok")
            }
            let calls = try (0..<4).map { index in
                let request = try bench.request("/\(index)")
                return Task { try await bench.text(try await bench.send(request)) }
            }
            _ = await bench.server.requests(atLeast: 4)
            calls[0].cancel()
            try await expectCancellation { _ = try await calls[0].value }
            for gate in gates { gate.continuation.finish() }
            for call in calls.dropFirst() { try expect(try await call.value, is: "ok", "content") }
        },
        rule("callsAtTheSameTimeGetTheirOwnAnswers") { bench in
            bench.server.on(.post, "/echo") { request in MockResponse.status(200, body: request.text) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<100 {
                    let request = try bench.request("/echo", .post, body: HTTPBody("\(index)"))
                    group.addTask {
                        let response = try await bench.send(request)
                        try expect(try await bench.text(response), is: "\(index)", "the answer to \(index)")
                    }
                }
                try await group.waitForAll()
            }
        },
        wireRule("everyOneOfManyCallsEndsOnce") { bench in
            bench.server.on(.get, "/ok/*", .status(200, body: "ok"))
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
