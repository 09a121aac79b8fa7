internal import Foundation
internal import InterceptorsCore

extension InterceptorConformance {
    static let streamLaws: [Law] = [
        Law(
            "aStreamStaysAStream",
            expected: "A streamed response must come back before its content has arrived.",
            harm: "Otherwise a large download fills the memory, and server-sent events never arrive.",
            repair:
                "Wrap response.body with map(_:) or wrapped(length:_:); declare .buffers if the interceptor needs the whole content.",
            for: { !$0.includes(.buffers) }
        ) { bench in
            let gate = Gate()
            let stream = ScriptedStream(bench.content, in: 3, gate: gate)
            bench.server.answer { $1.usual($0.request, stream: stream) }
            let call = bench.start(try bench.request(mode: .streamed))
            let hasReturned = await bench.stage.reachesInTime { call.hasEnded || gate.waiting > 0 }
            let isEarly = call.hasEnded
            gate.open()
            try bench.expect(hasReturned && isEarly, "The call returned only after the content of a streamed response.")
            if case .success(let response)? = call.result { response.body.discard() }
        },
        Law(
            "theFirstByteIsNotDelayed",
            expected: "The reader of a stream must get bytes that have arrived, without waiting for later ones.",
            harm: "Otherwise events, progress and the first picture come late, although they are here.",
            repair:
                "Return a chunk as soon as some of its bytes can be used; if the interceptor reads frames, pass many of them as check(answering:).",
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
            try bench.expect(
                isInTime,
                "The reader got no byte although \(changes ? "15 of 16" : "1 of 3") chunks had arrived."
            )
        },
        Law(
            "aStreamIsReadAtItsReadersPace",
            expected: "A stream must be read only as fast as the caller reads it.",
            harm: "Otherwise a slow reader makes the content pile up in memory.",
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
            guard response.body.bytes == nil else { return }
            let unread = stream.pulls
            var iterator = response.body.makeAsyncIterator()
            await bench.log.whileReading { _ = try? await iterator.next() }
            await bench.stage.idle()
            let pulls = stream.pulls
            response.body.discard()
            try bench.expect(unread <= 2, "\(unread) chunks were read before the caller read one.")
            // A transformer may need more than one chunk for its first result, but not all.
            let most = bench.roles.includes(.changesResponse) ? 63 : 3
            try bench.expect(pulls <= most, "\(pulls) of 64 chunks were read although the caller read only one.")
        },
    ]
}
