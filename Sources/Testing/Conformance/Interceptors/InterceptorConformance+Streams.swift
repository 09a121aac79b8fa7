internal import Foundation
internal import InterceptorsCore

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
            guard response.body.bytes == nil else { return }
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
    ]
}
