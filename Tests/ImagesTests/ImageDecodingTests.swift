import Dispatch
import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsImages

/// The key of a value that only the main queue has.
private let mainQueue: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
}()

@Suite(.againstHanging) struct ImageDecodingTests {
    @MainActor @Test func imagesAreDecodedAndWeighedOffTheMainActor() async throws {
        // On Linux, the main actor may run on another thread than the first one, but always on the main queue.
        let onMain: @Sendable () -> Bool = { DispatchQueue.getSpecific(key: mainQueue) ?? false }
        #expect(onMain())
        let places = Notes<Bool>()
        let note: @Sendable () -> Void = { places.add(onMain()) }
        struct Elsewhere: ImageVariant {
            let note: @Sendable () -> Void
            static func == (left: Self, right: Self) -> Bool { true }
            func hash(into hasher: inout Hasher) {}
            func image(from content: Data) throws -> Picture {
                note()
                return Picture(text: "")
            }
        }
        let server = StubTransport()
        server.on(.get, "/v1/a", .text("abc"))
        let loader = ImageLoader<Picture>(
            Client(baseURL: base, interceptors: [], transport: server),
            decode: { _ in
                note()
                return Picture(text: "")
            },
            cost: { _ in
                note()
                return 1
            }
        )
        _ = try await loader.image(at: "/a")
        _ = try await loader.image(at: "/a", as: Elsewhere(note: note))
        #expect(places.all == [false, false, false, false])
    }

    /// Each decoding runs whatever else can run, so that a decoding over the limit would begin inside another.
    @Test(arguments: [1, 2, 3]) func decodingsAtATimeAreLimited(limit: Int) async throws {
        let queue = try JobQueue(seed: 1)
        let (depth, deepest, decoded) = (Shared(0), Shared(0), Tally())
        let server = StubTransport { HTTPResponse(status: 200, body: "abc", url: $0.url) }
        let loader = ImageLoader<Picture>(server, maxDecodings: limit) { _ in
            depth.change { $0 += 1 }
            deepest.change { $0 = max($0, depth.value) }
            queue.runAll()
            depth.change { $0 -= 1 }
            decoded.count()
            return Picture(text: "")
        }
        let askers = queue.enter { (0..<20).map { number in Task { try await loader.image(at: "/\(number)") } } }
        queue.runAll()
        #expect(decoded.value == 20)
        #expect(deepest.value == limit)
        for asker in askers { _ = try await asker.value }
        #expect(loader.decodings.counts == (0, 0))
    }

    @Test func decodingsRunInOrderOfArrival() async throws {
        let queue = try JobQueue(seed: 0)
        let (line, order, gate) = (DecodingLine(limit: 1), Notes<Int>(), Latch())
        let tasks = queue.enter {
            (0..<5).map { number in
                let task = Task {
                    try await line.run {
                        order.add(number)
                        await gate.opened()
                    }
                }
                queue.runAll()
                return task
            }
        }
        #expect(order.all == [0] && line.counts == (1, 4))
        queue.enter { gate.open() }
        queue.runAll()
        for task in tasks { try await task.value }
        #expect(order.all == [0, 1, 2, 3, 4])
        #expect(line.counts == (0, 0))
    }

    @Test func cancelledDecodingLeavesTheLineAndReleasesItsPlace() async throws {
        struct Broken: Error {}
        let queue = try JobQueue(seed: 0)
        let (line, order, gate) = (DecodingLine(limit: 1), Notes<Int>(), Latch())
        let tasks = queue.enter {
            (0..<4).map { number in
                let task = Task {
                    try await line.run {
                        order.add(number)
                        await gate.opened()
                        if number == 0 { throw Broken() }
                    }
                }
                queue.runAll()
                return task
            }
        }
        queue.enter { tasks[1].cancel() }
        queue.runAll()
        await #expect(throws: CancellationError.self) { try await tasks[1].value }
        #expect(line.counts == (1, 2))
        queue.enter { gate.open() }
        // Cancelled after the place has passed to it, perhaps before it notices.
        queue.runAll(limit: 1)
        queue.enter { tasks[2].cancel() }
        queue.runAll()
        await #expect(throws: Broken.self) { try await tasks[0].value }
        _ = await tasks[2].result
        try await tasks[3].value
        #expect(order.all.last == 3)
        #expect(line.counts == (0, 0))
    }

    @Test func limitBelowOneIsOne() async throws {
        let line = DecodingLine(limit: -3)
        #expect(try await line.run { 7 } == 7)
    }
}
