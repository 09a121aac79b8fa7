internal import Foundation
internal import InterceptorsCore

// Limits on the size of a response and on the time of a call.
extension TransportConformance {
    static let limitLaws: [Law] = [
        Law("aBufferedResponseKeepsToItsLimit", repair: "Count bytes as they arrive.", for: [.sizeLimits]) { bench in
            bench.server.enqueue(.status(200, body: String(repeating: "a", count: 1000)))
            _ = try await bench.send(try bench.request(mode: .buffered(upTo: 1000)))
            for answer in [
                StubAnswer.status(200, body: String(repeating: "a", count: 1001)), .stream([Data(count: 1001)]),
            ] {
                bench.server.enqueue(answer)
                try await expectFailure(.bodyTooLarge) {
                    _ = try await bench.send(try bench.request(mode: .buffered(upTo: 1000)))
                }
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
    ]

    private static func expectTimeout(_ bench: Bench, _ timeouts: Timeouts, after limit: Duration) async throws {
        try await expectFailure(.timedOut) {
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
        try await expectFailure(.timedOut) { try await bench.drain(&iterator) }
    }
}
