internal import Foundation
internal import Interceptors

extension InterceptorConformance {
    static let permitLaws: [Law] = [
        Law(
            "everyPermitComesBack",
            expected:
                "What a call takes must come back once, whether it fails, is cancelled, or its body is read, broken, discarded or dropped.",
            harm:
                "Otherwise the limit shrinks or grows with each such call, until no call is sent any more, or all are.",
            repair:
                "Release when next throws and at the end of the body, with onEnd(_:); or with defer right after acquiring, if not for streams."
        ) { bench in
            let before = try await Capacity.count(try bench.fresh(), expecting: nil)
            for end in Capacity.End.allCases {
                let fresh = try bench.fresh()
                fresh.log.blame("everyPermitComesBack")
                defer { fresh.log.blame(nil) }
                for _ in 0..<Capacity.endings {
                    // A call that doesn't end breaks another rule.
                    guard try await Capacity.makeCall(fresh, end) else { return }
                }
                try await Capacity.recover(fresh)
                let after = try await Capacity.count(fresh, expecting: before)
                guard after != before else { continue }
                // Work elsewhere may be late before the first return from there shows that there is any.
                _ = await fresh.stage.reaches { fresh.stage.queue.otherThreadsCount > 0 }
                // If other threads take part, they may be late, and only a limit with room for no call is certain.
                if fresh.stage.queue.otherThreadsCount > 0, after > 0 { continue }
                throw fresh.fail(
                    "Of \(Capacity.calls) calls at once, \(before) reached the rest of the chain, and \(after) after \(Capacity.endings) calls \(end.rawValue)."
                )
            }
        }
    ]
}

/// How many calls an interceptor lets through at a time.
private enum Capacity {
    static let calls = 200
    static let endings = 40
    /// In years, a limit of one call a day gains room for all calls of the check.
    private static let longestRefill = Duration.seconds(10 * 365 * 86_400)

    /// How a call ends, as the end of a sentence.
    enum End: String, CaseIterable {
        case fails = "that failed"
        case isCancelled = "that were cancelled"
        case isRead = "whose streams were read to their ends"
        case breaks = "whose streams broke"
        case isDiscarded = "whose streams were discarded"
        case isDropped = "whose streams were dropped"
    }

    /// How many of many calls at once reach the rest of the chain while no time passes.
    ///
    /// - Parameter number: the number to wait for, if other threads take part; all of the calls if it is `nil`.
    static func count(_ bench: InterceptorConformance.Bench, expecting number: Int?) async throws -> Int {
        let gate = Gate()
        bench.server.answer { arrival, server in
            try await gate.pass()
            return server.usual(arrival.request)
        }
        let all = try (0..<calls).map { bench.start(try bench.request("/together/\($0)")) }
        await bench.stage.idle()
        if bench.stage.queue.otherThreadsCount > 0 {
            _ = await bench.stage.reaches { gate.waiting + all.count(where: \.hasEnded) >= number ?? calls }
        }
        let reached = gate.waiting
        gate.open()
        for call in all { call.cancel() }
        await bench.stage.idle()
        return reached
    }

    /// Makes a call that ends in a way, and returns whether it ended.
    static func makeCall(_ bench: InterceptorConformance.Bench, _ end: End) async throws -> Bool {
        let gate = Gate()
        bench.server.answer { arrival, server in
            let broken = TransportError(.connectionLost, "The connection was lost.", request: arrival.request)
            if end == .fails { throw broken }
            if end == .isCancelled { try await gate.pass() }
            return server.usual(arrival.request, error: end == .breaks ? broken : nil)
        }
        switch end {
        case .fails: _ = try? await bench.send(try bench.request("/fails", .post, body: "content"))
        case .isCancelled:
            let call = bench.start(try bench.request("/waits"))
            await bench.stage.idle()
            call.cancel()
            let hasEnded = await bench.stage.reaches { call.hasEnded }
            gate.open()
            return hasEnded
        case .isRead, .breaks:
            guard let response = try? await bench.send(try bench.request("/things", mode: .streamed)) else { break }
            try await bench.drain(response.body)
        case .isDiscarded: (try? await bench.send(try bench.request("/things", mode: .streamed)))?.body.discard()
        case .isDropped: await bench.drop(try bench.request("/things", mode: .streamed))
        }
        return true
    }

    /// Lets the time of a rate limit pass, and closes an open circuit.
    static func recover(_ bench: InterceptorConformance.Bench) async throws {
        bench.server.answer { arrival, server in server.usual(arrival.request) }
        for isFirst in [true, false] {
            await bench.stage.settle()
            bench.world.clock.advance(by: longestRefill)
            guard isFirst else { break }
            for _ in 0..<10 { _ = try? await bench.send(try bench.request("/again")) }
        }
        await bench.stage.settle()
    }
}

extension InterceptorConformance.Bench {
    /// Makes a call, and drops its response without reading or discarding it.
    fileprivate func drop(_ request: HTTPRequest) async {
        let chain = InterceptorChain([interceptor], transport: server)
        let call = InterceptorConformance.Call(request)
        log.add(call)
        let task = Task(executorPreference: stage.queue) {
            _ = try? await chain.send(request)
            call.ended(.failure(CancellationError()))
        }
        await task.value
    }
}
