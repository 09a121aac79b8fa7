import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsImages

@Suite(.againstHanging) struct ImageCancellationTests {
    @Test func cancelledAskerLeavesAtOnceAndTheOthersGetTheImage() async throws {
        let world = try ImageWorld()
        let askers = (0..<3).map { _ in world.ask("/a") }
        world.run()
        for asker in askers.prefix(2) {
            world.cancel(asker)
            world.run()
            await #expect(throws: CancellationError.self) { try await asker.value }
        }
        #expect(world.server.running == [0], "The exchange goes on.")
        world.answerAll()
        #expect(try await askers[2].value.image.text == "0 /v1/a")
        #expect(world.loader.memoryCount == 1)
    }

    @Test func lastAskerThatLeavesCancelsTheExchange() async throws {
        let world = try ImageWorld()
        let askers = (0..<2).map { _ in world.ask("/a") }
        world.run()
        world.cancel(askers[0])
        #expect(world.server.cancelled == [])
        world.cancel(askers[1])
        world.run()
        #expect(world.server.cancelled == [0])
        #expect(world.loader.loadCounts == (0, 0) && world.loader.memoryCount == 0)
        for asker in askers { await #expect(throws: CancellationError.self) { try await asker.value } }
    }

    @Test func askerThatWasCancelledBeforeItBeginsSendsNothing() async throws {
        let world = try ImageWorld()
        world.fill("/b")
        for path in ["/a", "/b"] {
            let asker = world.ask(path)
            world.cancel(asker)
            world.run()
            await #expect(throws: CancellationError.self) { try await asker.value }
        }
        #expect(world.server.paths == ["/v1/b"])
    }

    @Test func askerAfterTheLastOneLeftStartsAnotherExchange() async throws {
        let world = try ImageWorld()
        let first = world.ask("/a")
        world.run()
        // The first exchange is cancelled, but hasn't ended when the second asker comes.
        world.cancel(first)
        let second = world.ask("/a")
        world.run()
        #expect(world.server.cancelled == [0] && world.server.running == [1])
        world.answerAll()
        #expect(try await second.value.image.text == "1 /v1/a")
        await #expect(throws: CancellationError.self) { try await first.value }
    }

    /// Askers come and leave in every order. Nobody who stays gets the cancellation of somebody who left.
    @Test(arguments: 0..<300 as Range<UInt64>)
    func whoStaysGetsTheImageWheneverOthersLeave(seed: UInt64) async throws {
        let world = try ImageWorld(seed: seed, limit: 0)
        var random = SeededGenerator(seed: seed)
        var askers: [(asker: ImageWorld.Asker, isCancelled: Bool)] = []
        for _ in 0..<60 {
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1: askers.append((world.ask("/\(Int.random(in: 0..<2, using: &random))"), false))
            case 2, 3:
                guard let index = askers.indices.randomElement(using: &random) else { continue }
                askers[index].isCancelled = true
                world.cancel(askers[index].asker)
            case 4:
                if let number = world.server.running.randomElement(using: &random) {
                    world.queue.enter { world.server.answer(number) }
                }
            default: world.queue.runAll(limit: Int.random(in: 1...9, using: &random))
            }
        }
        world.run()
        world.answerAll()
        for (asker, isCancelled) in askers {
            do {
                #expect(try await asker.value.source == .network)
            } catch is CancellationError {
                #expect(isCancelled, "An asker that stayed was cancelled.")
            }
        }
        #expect(world.server.running == [])
        #expect(world.loader.loadCounts == (0, 0))
        #expect(world.loader.decodings.counts == (0, 0))
    }

    @Test func nothingIsKeptAfterAllAskersAreCancelled() async throws {
        let queue = try JobQueue(seed: 0)
        let server = HeldServer()
        var loader: ImageLoader<Picture>? = ImageLoader(server)
        weak var kept: ImageLoader<Picture>?
        kept = loader
        let askers = queue.enter { [loader] in
            (0..<10).map { number in Task { try await loader?.image(at: "/\(number % 3)") } }
        }
        queue.runAll()
        #expect(server.running == [0, 1, 2])
        loader = nil
        #expect(kept != nil, "The askers keep the loader.")
        queue.enter { for asker in askers { asker.cancel() } }
        queue.runAll()
        #expect(server.cancelled == [0, 1, 2])
        for asker in askers { await #expect(throws: CancellationError.self) { try await asker.value } }
        #expect(kept == nil)
    }

    /// A transport that ignores cancellation.
    private struct Deaf: Transport {
        let gate: Latch

        func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
            let url = request.url
            await gate.opened()
            return HTTPResponse(status: 200, body: "abc", url: url)
        }
    }

    @Test func contentOfAnAbandonedLoadIsNotDecoded() async throws {
        let (gate, decoded, queue) = (Latch(), Tally(), try JobQueue(seed: 0))
        let loader = ImageLoader<Picture>(Deaf(gate: gate)) { _ in
            decoded.count()
            return Picture(text: "")
        }
        let asker = queue.enter { Task { try await loader.image(at: "/a") } }
        queue.runAll()
        queue.enter { asker.cancel() }
        queue.runAll()
        await #expect(throws: CancellationError.self) { try await asker.value }
        queue.enter { gate.open() }
        queue.runAll()
        #expect(decoded.value == 0 && loader.memoryCount == 0)
    }

    @Test func imageOfALoadThatIsAbandonedWhileItDecodesIsNotKept() async throws {
        let (askers, decoded, queue) = (Notes<ImageWorld.Asker>(), Tally(), try JobQueue(seed: 0))
        let server = StubTransport { HTTPResponse(status: 200, body: "abc", url: $0.url) }
        let loader = ImageLoader<Picture>(server) { _ in
            for asker in askers.all { asker.cancel() }
            decoded.count()
            return Picture(text: "")
        }
        queue.enter { askers.add(Task { try await loader.image(at: "/a") }) }
        queue.runAll()
        #expect(decoded.value == 1 && loader.memoryCount == 0)
        for asker in askers.all { await #expect(throws: CancellationError.self) { try await asker.value } }
    }
}
