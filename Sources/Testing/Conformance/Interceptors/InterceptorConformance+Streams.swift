internal import Foundation

extension InterceptorConformance {
    static let streamLaws: [Law] = [
        Law(
            "aStreamStaysAStream",
            repair: "Wrap response.body with map(_:) or wrapped(length:_:), or declare .buffers.",
            for: { !$0.includes(.buffers) }
        ) { bench in
            let gate = Gate()
            let stream = ScriptedStream(bench.content, in: 3, gate: gate)
            bench.server.answer { $1.usual($0.request, stream: stream) }
            let call = bench.start(try bench.request(mode: .streamed))
            let hasReturned = await bench.stage.reachesInTime { call.hasEnded || gate.waiting > 0 }
            let isEarly = call.hasEnded
            gate.open()
            try expect(hasReturned && isEarly, "The call returned only after the content of a streamed response.")
            if case .success(let response)? = call.result { response.body.discard() }
        },
        Law(
            "theFirstByteIsNotDelayed",
            repair: "Return a chunk as soon as its bytes can be used; pass many frames as check(answering:).",
            for: { !$0.includes(.buffers) }
        ) { bench in
            let changes = bench.roles.includes(.changesResponse)
            // A transformer may need more than one chunk for its first result, but not all.
            let gate = Gate()
            let stream = ScriptedStream(bench.content, in: changes ? 16 : 3, gate: gate, from: changes ? 15 : 1)
            bench.server.answer { $1.usual($0.request, stream: stream) }
            let call = bench.start(try bench.request(mode: .streamed))
            guard await bench.stage.reachesInTime({ call.hasEnded || gate.waiting > 0 }),
                case .success(let response)? = call.result
            else {
                gate.open()
                return
            }
            let read = Guarded(false)
            let reader = Task(executorPreference: bench.stage.queue) {
                var iterator = response.body.makeAsyncIterator()
                if try await iterator.next() != nil { read.change { $0 = true } }
            }
            let isInTime = await bench.stage.reaches { read.value || gate.waiting > 0 } && read.value
            gate.open()
            try? await reader.value
            response.body.discard()
            try expect(
                isInTime,
                "The reader got no byte although \(changes ? "15 of 16" : "1 of 3") chunks had arrived."
            )
        },
        Law(
            "aStreamIsReadAtItsReadersPace",
            repair: "Read the source inside the iterator's next(), not in a task that runs ahead.",
            for: { !$0.includes(.buffers) }
        ) { bench in
            let stream = ScriptedStream(bench.content, in: 64)
            bench.server.answer { $1.usual($0.request, stream: stream) }
            let call = bench.start(try bench.request(mode: .streamed))
            guard await bench.stage.reaches({ call.hasEnded }), case .success(let response)? = call.result else {
                return
            }
            await bench.stage.idle()
            // An interceptor that collects the whole stream breaks another rule.
            guard response.body.data == nil else { return }
            let unread = stream.pulls
            var iterator = response.body.makeAsyncIterator()
            await bench.log.whileReading { _ = try? await iterator.next() }
            await bench.stage.idle()
            let pulls = stream.pulls
            response.body.discard()
            try expect(unread <= 2, "\(unread) chunks were read before the caller read one.")
            // A transformer may need more than one chunk for its first result, but not all.
            let most = bench.roles.includes(.changesResponse) ? 63 : 3
            try expect(pulls <= most, "\(pulls) of 64 chunks were read although the caller read only one.")
        },
        Law("theEndOfAStreamArrives", repair: "Return nil at the end, and finish continuations.") { bench in
            let response = try await bench.succeed(try bench.request(mode: .streamed))
            let after = try await bench.reading {
                var iterator = response.body.makeAsyncIterator()
                try await bench.readToEnd(&iterator)
                return try await iterator.next()
            }
            try expect(after == nil, "After its end the stream had another chunk.")
        },
        Law(
            "theErrorOfAStreamArrives",
            repair: "Let errors of the source pass through next(); never replace them by an end.",
            for: { !$0.includes(.answers) }
        ) { bench in
            bench.server.answer { arrival, server in
                let error = TransportError(.truncated, "The content was cut off.", request: arrival.request)
                let stream = ScriptedStream(server.content, in: 3, failingWith: error)
                return server.usual(arrival.request, stream: stream)
            }
            let call = bench.start(try bench.request(mode: .streamed))
            guard let response = try? await call.outcome() else { return }
            do {
                try await bench.log.whileReading { try await bench.readToEnd(response.body) }
            } catch  where !(error is RuleObservation) {
                return
            }
            throw RuleObservation("A stream that was cut off ended like a whole one.")
        },
        Law(
            "aDiscardedStreamIsDiscardedAtItsSource",
            repair: "Make the new body from the old one with map(_:), wrapped(length:_:) or oneShot(_:).",
            for: { !$0.includes(.buffers) }
        ) { bench in
            for abandonment in Abandonment.allCases {
                let fresh = try bench.fresh()
                let isClosed = try await abandonment.closesTheSource(fresh)
                try expect(isClosed, "The caller \(abandonment.rawValue), and the source of the body stayed open.")
            }
        },
        Law("aResponseThatIsNotReturnedIsDiscarded", repair: "Call body.discard() on such a response.") { bench in
            for answer in RefusingAnswer.all {
                let fresh = try bench.fresh { try answer.respond($0, $1) }
                let call = fresh.start(try fresh.request(mode: .streamed))
                if let response = try? await call.outcome() {
                    // Read to its end, because a body that can't be discarded breaks another rule.
                    try await fresh.drain(response.body)
                }
                await fresh.stage.idle()
                let open = fresh.server.openStreams.count
                try expect(open == 0, "After \(answer.name), \(open) bodies of responses stayed open.")
            }
        },
    ]
}

/// How a caller gives up a stream before its end, as a part of a sentence.
enum Abandonment: String, CaseIterable {
    case discards = "discarded the body"
    case drops = "dropped the response"
    case discardsBegun = "discarded the body after its first chunk"
    case dropsBegun = "dropped the response after its first chunk"

    /// Makes a call, gives up its stream, and returns whether the source of the stream closes.
    func closesTheSource(_ bench: InterceptorConformance.Bench) async throws -> Bool {
        let gate = Gate()
        // A transformer may need more than one chunk for its first result, but not all.
        let stream = ScriptedStream(bench.content, in: 16, gate: gate, from: 15)
        bench.server.answer { $1.usual($0.request, stream: stream) }
        let call = bench.start(try bench.request(mode: .streamed), keepsResponse: false, reading: read)
        let isPlayed = await bench.stage.reachesInTime { call.hasEnded || gate.waiting > 0 }
        let isComplete = call.hasEnded
        gate.open()
        // A call that doesn't end, or a first chunk that comes too late, breaks another rule.
        guard isPlayed, isComplete else {
            call.cancel()
            return true
        }
        return await bench.stage.reaches {
            !stream.isMade || stream.isClosed || !stream.isHeld && (self == .drops || self == .dropsBegun)
        }
    }

    private func read(_ body: HTTPBody) async {
        switch self {
        case .discards: body.discard()
        case .drops: break
        case .discardsBegun, .dropsBegun:
            var iterator = body.makeAsyncIterator()
            _ = try? await iterator.next()
            if self == .discardsBegun { body.discard() }
        }
    }
}
