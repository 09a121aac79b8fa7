internal import Foundation
internal import Interceptors

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
            bench.server.answer { arrival, server in server.usual(arrival.request, gate: gate) }
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
            repair: "Return a chunk as soon as some of its bytes can be used; keep back only what is incomplete.",
            for: { !$0.includes(.buffers) }
        ) { bench in
            let changes = bench.roles.includes(.changesResponse)
            // A transformer may need more than one chunk for its first result, but not all.
            let parts = ScriptedStream.parts(of: bench.content, count: changes ? 16 : 3)
            let gate = Gate()
            let stream = ScriptedStream(parts, gate: gate, gatedFrom: changes ? 15 : 1)
            bench.server.answer { arrival, server in
                var response = server.usual(arrival.request)
                response.body = stream.body(length: Int64(server.content.count))
                return response
            }
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
            let stream = ScriptedStream(ScriptedStream.parts(of: bench.content, count: 64))
            bench.server.answer { arrival, server in
                var response = server.usual(arrival.request)
                response.body = stream.body(length: Int64(server.content.count))
                return response
            }
            let call = bench.start(try bench.request(mode: .streamed))
            guard await bench.stage.reaches({ call.hasEnded }), case .success(let response)? = call.result else {
                return
            }
            await bench.stage.idle()
            // An interceptor that collects the whole stream breaks another rule.
            let pulls = stream.pulls
            response.body.discard()
            try bench.expect(
                pulls <= 2 || response.body.bytes != nil,
                "\(pulls) chunks were read before the caller read one."
            )
        },
        Law(
            "theEndOfAStreamIsTold",
            expected: "After the last byte, the reader must get the end of the stream, and again if it asks again.",
            harm: "Otherwise the caller waits for ever for more content.",
            repair: "Return nil from next() when the source returns nil, and finish every continuation."
        ) { bench in
            let response = try await bench.succeed(try bench.request(mode: .streamed))
            bench.log.blame("theEndOfAStreamIsTold")
            var iterator = response.body.makeAsyncIterator()
            var count = 0
            var after: Data?
            do {
                while try await iterator.next() != nil, count < 100_000 { count += 1 }
                after = try await iterator.next()
            } catch {
                throw bench.fail("Reading the content of a good response failed: \(error)", as: "theContentComesBack")
            }
            try bench.expect(count < 100_000, "The reader got more than 100,000 chunks, and no end.")
            try bench.expect(after == nil, "After its end the stream had another chunk.")
        },
        Law(
            "theErrorOfAStreamIsTold",
            expected: "When the source of a stream fails, its reader must get the error.",
            harm: "Otherwise half a download looks like a whole one, and is stored.",
            repair: "Let errors of the source pass through next(); never replace them by an end.",
            for: { !$0.includes(.answers) }
        ) { bench in
            bench.server.answer { arrival, server in
                let error = TransportError(.truncated, "The content was cut off.", request: arrival.request)
                return server.usual(arrival.request, error: error)
            }
            let call = bench.start(try bench.request(mode: .streamed))
            guard let response = try? await call.outcome() else { return }
            do {
                bench.log.blame("theEndOfAStreamIsTold")
                for try await _ in response.body {}
                bench.log.blame(nil)
            } catch {
                return
            }
            throw bench.fail("A stream that was cut off ended like a whole one.")
        },
        Law(
            "aDiscardedStreamIsDiscardedAtItsSource",
            expected: "Discarding the response's body must discard the body that the rest of the chain returned.",
            harm: "Otherwise each download that a user breaks off leaves a connection open.",
            repair:
                "Make the new body from the old one with map(_:), wrapped(length:_:) or oneShot(_:), which pass the discard on.",
            for: { !$0.includes(.buffers) }
        ) { bench in
            let response = try await bench.succeed(try bench.request(mode: .streamed))
            response.body.discard()
            let isClosed = await bench.stage.reaches { bench.server.openStreams.isEmpty }
            try bench.expect(isClosed, "The caller discarded the body, and its source stayed open.")
        },
        Law(
            "aResponseThatIsNotReturnedIsDiscarded",
            expected: "The body of a response that isn't returned must be read or discarded.",
            harm: "Otherwise each such response keeps its connection until the server gives up.",
            repair: "Call response.body.discard() before you throw, or before you call next again."
        ) { bench in
            for answer in RefusingAnswer.all {
                let fresh = try bench.fresh()
                fresh.server.answer { arrival, server in try answer.respond(arrival, server) }
                let call = fresh.start(try fresh.request(mode: .streamed))
                if let response = try? await call.outcome() {
                    // Read to its end, because a body that can't be discarded breaks another rule.
                    fresh.log.blame("theEndOfAStreamIsTold")
                    _ = try? await response.body.collect(upTo: 1 << 24)
                    fresh.log.blame(nil)
                }
                await fresh.stage.idle()
                let open = fresh.server.openStreams.count
                try fresh.expect(open == 0, "After \(answer.name), \(open) bodies of responses stayed open.")
            }
        },
    ]
}
