import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsImages

@MainActor @Suite(.againstHanging) struct ImageSlotTests {
    private let slot = ImageSlot<Picture>()
    private let shown = Notes<String>()

    /// Loads into the slot; the load's own tasks run on the world's queue.
    private func load(_ path: String, _ world: ImageWorld, _ ended: Tally = Tally()) {
        world.queue.enter {
            slot.load(at: RequestTarget(text: path), from: world.loader) { [shown] result in
                switch result {
                case .success(let loaded): shown.add("\(loaded.image.text) \(loaded.source)")
                case .failure(let error): shown.add("\(type(of: error))")
                }
                ended.count()
            }
        }
        world.run()
    }

    @Test func imageIsReceivedOnceOnTheMainActor() async throws {
        let (world, ended) = (try ImageWorld(), Tally())
        load("/a", world, ended)
        #expect(shown.all == [])
        world.answerAll()
        await ended.reached(1)
        #expect(shown.all == ["0 /v1/a network"])
    }

    @Test func imageInMemoryIsReceivedBeforeLoadReturns() throws {
        let world = try ImageWorld()
        world.fill("/a")
        slot.load(at: "/a", from: world.loader) { [shown] in shown.add((try? $0.get()).map { "\($0.source)" } ?? "") }
        #expect(shown.all == ["memory"])
        slot.load(at: RequestTarget(base.appending(path: "a")), from: world.loader) { [shown] _ in shown.add("again") }
        #expect(shown.all == ["memory", "again"])
    }

    @Test func laterLoadDropsTheEarlierOneAndItsExchange() async throws {
        let (world, ended) = (try ImageWorld(), Tally())
        load("/a", world)
        load("/b", world, ended)
        #expect(world.server.cancelled == [0] && world.server.running == [1])
        world.answerAll()
        await ended.reached(1)
        #expect(shown.all == ["1 /v1/b network"])
    }

    @Test func lateResultOfTheEarlierLoadIsNeverReceived() async throws {
        let (world, ended) = (try ImageWorld(), Tally())
        load("/a", world)
        // The result is there, but the main actor is busy here, and hasn't received it.
        world.answerAll()
        #expect(world.loader.memoryCount == 1)
        load("/b", world, ended)
        world.answerAll()
        await ended.reached(1)
        #expect(shown.all == ["1 /v1/b network"])
    }

    @Test func lateResultIsNotReceivedAfterALoadFromMemory() async throws {
        let world = try ImageWorld()
        world.fill("/b")
        load("/a", world)
        world.answerAll()
        load("/b", world)
        #expect(shown.all == ["0 /v1/b memory"])
        await mainActorIsDone()
        #expect(shown.all == ["0 /v1/b memory"])
    }

    @Test func cancelledLoadIsNeverReceived() async throws {
        let world = try ImageWorld()
        load("/a", world)
        world.queue.enter { slot.cancel() }
        world.run()
        #expect(world.server.cancelled == [0])
        load("/b", world)
        world.answerAll()
        slot.cancel()
        slot.cancel()
        await mainActorIsDone()
        #expect(shown.all == [])
    }

    @Test func loadingTheSameImageAgainKeepsItsExchange() async throws {
        let (world, ended) = (try ImageWorld(), Tally())
        load("/a", world)
        load("/a", world, ended)
        #expect(world.server.cancelled == [] && world.loader.loadCounts == (1, 1))
        world.answerAll()
        await ended.reached(1)
        #expect(shown.all == ["0 /v1/a network"] && world.server.paths.count == 1)
    }

    @Test func droppedLoadGoesOnForOtherCells() async throws {
        let (world, ended) = (try ImageWorld(), Tally())
        let other = ImageSlot<Picture>()
        load("/a", world)
        other.load(at: "/a", from: world.loader) { [shown] in
            shown.add("other \((try? $0.get().image.text) ?? "")")
            ended.count()
        }
        slot.cancel()
        world.run()
        #expect(world.server.running == [0])
        world.answerAll()
        await ended.reached(1)
        #expect(shown.all == ["other 0 /v1/a"])
    }

    @Test func failureIsReceived() async throws {
        let ended = Tally()
        let world = try ImageWorld { _ in throw NoPicture() }
        load("/a", world, ended)
        world.answerAll()
        await ended.reached(1)
        load("ftp://example.com/a", world)
        #expect(shown.all == ["ResponseDecodingError", "TransportError"])
    }

    @Test func invalidURLDropsTheEarlierLoad() throws {
        let world = try ImageWorld()
        load("/a", world)
        load("ftp://example.com/a", world)
        #expect(world.server.cancelled == [0] && shown.all == ["TransportError"])
    }

    @Test func slotThatEndsDropsItsLoad() async throws {
        let world = try ImageWorld()
        var slot: ImageSlot<Picture>? = ImageSlot()
        weak var kept: ImageSlot<Picture>?
        kept = slot
        slot?.load(at: "/a", from: world.loader) { [shown] _ in shown.add("late") }
        await world.server.reached(1)
        slot = nil
        #expect(kept == nil)
        #expect(world.loader.loadCounts == (0, 0))
        await mainActorIsDone()
        #expect(shown.all == [])
    }

    @Test func laterCallEndsTheEarlierOneWithACancellationError() async throws {
        let world = try ImageWorld()
        let first = Task { try await slot.image(at: "/a", from: world.loader) }
        await world.server.reached(1)
        let second = Task { try await slot.image(at: "/b", from: world.loader) }
        await world.server.reached(2)
        await #expect(throws: CancellationError.self) { try await first.value }
        world.server.answerAll()
        #expect(try await second.value.image.text == "1 /v1/b")
        #expect(
            try await slot.image(at: RequestTarget(base.appending(path: "b")), from: world.loader).source == .memory
        )
    }

    @Test func lateResultOfAnEarlierCallIsACancellationError() async throws {
        let world = try ImageWorld()
        let other = world.ask("/a")
        world.run()
        let first = Task { try await slot.image(at: "/a", from: world.loader) }
        while world.loader.loadCounts.askers < 2 { await Task.yield() }
        // The image is there, but the main actor is busy here, and hasn't received it.
        world.answerAll()
        #expect(world.loader.memoryCount == 1)
        slot.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(try await other.value.source == .network)
    }

    @Test func cancelledTaskDropsItsCall() async throws {
        let world = try ImageWorld()
        let call = Task { try await slot.image(at: "/a", from: world.loader) }
        await world.server.reached(1)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(world.loader.loadCounts == (0, 0))
    }

    /// Waits until the main actor has run the jobs that it has now, and those that they start.
    private func mainActorIsDone() async { for _ in 0..<20 { await Task { @MainActor in }.value } }
}
