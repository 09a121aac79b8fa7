internal import Foundation
internal import InterceptorsCore

// Calls that end before their response, and calls at the same time.
extension TransportConformance {
    static let cancellationLaws: [Law] = [
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
    ]

    static let concurrencyLaws: [Law] = [
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
}
