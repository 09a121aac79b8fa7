internal import Foundation
internal import InterceptorsCore

// Calls that end before their response, and calls at the same time.
extension TransportConformance {
    static let cancellationLaws: [Law] = [
        Law(
            "aCancelledCallEndsAtOnce",
            expected: "A cancelled call must throw CancellationError at once, and close its connection.",
            harm: "Otherwise a screen that the user left uses the network, and shows an error for the user's own wish.",
            repair: "End the transfer in withTaskCancellationHandler, and throw CancellationError itself."
        ) { bench in
            bench.server.on(.get, "/", .neverAnswer)
            let request = try bench.request()
            let call = Task { try await bench.send(request) }
            try await bench.received(atLeast: 1)
            call.cancel()
            try await expectCancellation { _ = try await call.value }
            try await bench.connectionCloses()
        },
        Law(
            "aCallCancelledBeforeItBeginsSendsNothing",
            expected: "A call in a cancelled task must throw CancellationError without sending.",
            harm: "Otherwise a cancelled task still orders and pays.",
            repair: "Call Task.checkCancellation() before you send."
        ) { bench in
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
            expected: "A cancelled reader of a stream must get CancellationError, and the connection must close.",
            harm: "Otherwise a cancelled download goes on in the background.",
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
            expected: "HTTPBody.discard() on a response's body must close its connection.",
            harm: "Otherwise each response that a retry throws away keeps a connection and its data volume.",
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
            expected: "A response whose body nobody holds any more must close its connection.",
            harm: "Otherwise each call whose response the program forgets keeps a connection open.",
            repair: "End the transfer when the last reference to the stream is released.",
            for: [.responseStreams, .discards]
        ) { bench in
            bench.server.on(.get, "/", .stallInBody(after: Data("abc".utf8), of: 9))
            _ = try await bench.send(try bench.request(mode: .streamed))
            try await bench.connectionCloses()
        },
    ]

    static let concurrencyLaws: [Law] = [
        Law(
            "cancellingOneCallLeavesTheOthersAlone",
            expected: "Cancelling one call must leave the others running.",
            harm: "Otherwise leaving one screen empties the others.",
            repair: "Keep the state of each call apart, and cancel only its transfer.",
            seeds: 4
        ) { bench in
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
            expected: "Each of many calls at the same time must get the answer to its request.",
            harm: "Otherwise one user sees the data of another.",
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
            expected: "Each of many calls must end once, whether it succeeds, fails or is cancelled.",
            harm: "Otherwise single calls hang or fail when the program is busy.",
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
