internal import Foundation

extension TransportConformance {
    static let endLaws: [Law] = [
        // Limits on the size of a response and on the time of a call.
        Law("aBufferedResponseKeepsToItsLimit", repair: "Count bytes as they arrive.", for: [.sizeLimits]) { bench in
            bench.server.enqueue(.status(200, body: String(repeating: "a", count: 1000)))
            _ = try await bench.send(try bench.request(mode: .buffered(upTo: 1000)))
            for answer in [
                StubAnswer.status(200, body: String(repeating: "a", count: 1001)), .stream([Data(count: 1001)]),
            ] {
                bench.server.enqueue(answer)
                try await bench.send(try bench.request(mode: .buffered(upTo: 1000)), failingWith: .bodyTooLarge)
            }
        },
        Law("theWholeCallHasALimit", repair: "Sleep on time.clock once for each call.", for: [.timeLimits]) { bench in
            bench.server.on(.get, "/", .neverAnswer)
            let timeouts = Timeouts(idle: nil, total: .milliseconds(500))
            try await expectTimeout(bench, timeouts, after: .milliseconds(500))
        },
        Law("silenceHasALimit", repair: "Sleep on time.clock again with each byte.", for: [.idleLimits]) { bench in
            bench.server.on(.get, "/", .neverAnswer)
            try await expectTimeout(bench, Timeouts(idle: .milliseconds(1900)), after: .milliseconds(1900))
        },
        Law(
            "theWholeCallsLimitBoundsTheContentToo",
            repair: "End the limit with the content, not with the head.",
            for: [.connections, .timeLimits, .responseStreams]
        ) { bench in
            bench.server.on(.get, "/", .stallInBody(after: Data("abc".utf8), of: 9))
            let timeouts = Timeouts(idle: nil, total: .seconds(2))
            try await expectTimeoutInContent(bench, timeouts, after: .seconds(2) + .milliseconds(1))
        },
        Law(
            "silenceWithinTheContentHasALimit",
            repair: "Start the idle limit again with each byte of the content.",
            for: [.connections, .idleLimits, .responseStreams]
        ) { bench in
            bench.server.on(.get, "/", .stallInBody(after: Data("abc".utf8), of: 9))
            try await expectTimeoutInContent(bench, Timeouts(idle: .seconds(2)), after: .seconds(10))
        },
        // Calls that end before their response, and calls at the same time.
        Law("aCancelledCallEndsAtOnce", repair: "Use withTaskCancellationHandler to end the transfer.") { bench in
            bench.server.on(.get, "/", .neverAnswer)
            let request = try bench.request()
            let call = Task { try await bench.send(request) }
            try await bench.received(atLeast: 1)
            call.cancel()
            try await expectCancellation { _ = try await call.value }
            try await bench.connectionCloses()
        },
        Law("aCallCancelledBeforeItBeginsSendsNothing", repair: "Call Task.checkCancellation() first.") { bench in
            bench.server.on(.get, "/", .status(200))
            let request = try bench.request()
            let call = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await bench.send(request)
            }
            try await expectCancellation { _ = try await call.value }
            try expect(bench.server.requests.count, is: 0, "The number of requests at the server")
        },
        Law(
            "aCancelledReaderEndsItsTransfer",
            repair: "End the transfer when the reader's task is cancelled, and throw CancellationError.",
            for: [.responseStreams]
        ) { bench in
            bench.server.on(.get, "/", .stallInBody(after: Data("abc".utf8), of: 9))
            let response = try await bench.send(try bench.request(mode: .streamed))
            let reading = Task {
                try await bench.waiting(for: "the end of a cancelled reader") {
                    for try await _ in response.body { withUnsafeCurrentTask { $0?.cancel() } }
                }
            }
            try await expectCancellation { try await reading.value }
            try await bench.connectionCloses()
        },
        Law(
            "aDiscardedBodyEndsItsTransfer",
            repair: "Pass onDiscard to the body, and end the transfer there.",
            for: [.responseStreams, .discards]
        ) { bench in
            bench.server.on(.get, "/", .stallInBody(after: Data("abc".utf8), of: 9))
            let response = try await bench.send(try bench.request(mode: .streamed))
            response.body.discard()
            try await bench.connectionCloses()
            withExtendedLifetime(response) {}
        },
        Law(
            "aDroppedBodyEndsItsTransfer",
            repair: "End the transfer when the last reference to the stream is released.",
            for: [.responseStreams, .discards]
        ) { bench in
            bench.server.on(.get, "/", .stallInBody(after: Data("abc".utf8), of: 9))
            _ = try await bench.send(try bench.request(mode: .streamed))
            try await bench.connectionCloses()
        },
        Law("cancellingOneCallLeavesTheOthersAlone", repair: "Cancel only the call's transfer.", seeds: 4) { bench in
            let gates = (0..<4).map { _ in AsyncStream.makeStream(of: Void.self) }
            bench.server.on(.get, "/*") { request in
                for await _ in gates[Int(request.path.dropFirst()) ?? 0].stream {}
                return StubAnswer.status(200, body: "ok")
            }
            let calls = try (0..<4).map { index in
                let request = try bench.request("/\(index)")
                return Task { try await bench.text(try await bench.send(request)) }
            }
            try await bench.received(atLeast: 4)
            calls[0].cancel()
            try await expectCancellation { _ = try await calls[0].value }
            for gate in gates { gate.continuation.finish() }
            for call in calls.dropFirst() { try expect(try await call.value, is: "ok", "The content of another call") }
        },
        Law(
            "callsAtTheSameTimeGetTheirOwnAnswers",
            repair: "Keep no state of a call in the transport, or keep it under the call's identity.",
            seeds: 4
        ) { bench in
            bench.server.on(.post, "/echo") { request in StubAnswer.status(200, body: request.text) }
            try await atOnce(100) { index in
                let request = try bench.request("/echo", .post, body: HTTPBody("\(index)"))
                let response = try await bench.send(request)
                try expect(try await bench.text(response), is: "\(index)", "The answer to \(index)")
            }
        },
        Law(
            "everyOneOfManyCallsEndsOnce",
            repair: "Let one state, behind one lock, decide how a call ends.",
            for: [.connections]
        ) { bench in
            bench.server.on(.get, "/ok/*", .status(200, body: "ok"))
            bench.server.on(.get, "/lost/*", .closeBeforeHead)
            bench.server.on(.get, "/cut/*", .closeInBody(after: 1, of: 2))
            bench.server.on(.get, "/never/*", .neverAnswer)
            let kinds = ["ok", "lost", "cut", "never"]
            try await atOnce(200) { index in
                let kind = kinds[index % 4]
                let request = try bench.request("/\(kind)/\(index)")
                let call = Task { try await bench.send(request) }
                if kind == "never" { call.cancel() }
                let succeeded = (try? await call.value) != nil
                let end = succeeded ? "succeeded" : "failed"
                try expect(succeeded == (kind == "ok"), "A call to /\(kind) \(end).")
            }
        },
    ]

    private static func expectTimeout(_ bench: Bench, _ timeouts: Timeouts, after limit: Duration) async throws {
        try await expectFailure([.timedOut]) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                let request = try bench.request(timeouts: timeouts)
                group.addTask { _ = try await bench.send(request) }
                try await bench.received(atLeast: 1)
                try await bench.limitRuns()
                // Slightly past the limit, which may have started a moment after the clock was read.
                bench.clock.advance(by: limit + .milliseconds(1))
                try await group.waitForAll()
            }
        }
    }

    private static func expectTimeoutInContent(
        _ bench: Bench,
        _ timeouts: Timeouts,
        after limit: Duration
    ) async throws {
        let response = try await bench.send(try bench.request(mode: .streamed, timeouts: timeouts))
        var iterator = response.body.makeAsyncIterator()
        _ = try await bench.next(&iterator)
        try await bench.limitRuns()
        bench.clock.advance(by: limit)
        try await expectFailure([.timedOut]) { try await bench.drain(&iterator) }
    }
}
