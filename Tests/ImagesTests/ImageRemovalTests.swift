import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsImages

@Suite(.againstHanging) struct ImageRemovalTests {
    @Test func loadDuringARemovalIsDeliveredAndNotKept() async throws {
        let world = try ImageWorld()
        world.fill("/b")
        let asker = world.ask("/a")
        world.run()
        world.loader.removeAll()
        #expect(world.loader.memoryCount == 0)
        world.answerAll()
        #expect(try await asker.value.image.text == "1 /v1/a")
        #expect(world.loader.memoryCount == 0)
    }

    /// Asks for an image before and after all are removed.
    private func askAroundARemoval(_ world: ImageWorld) -> (before: ImageWorld.Asker, after: ImageWorld.Asker) {
        let before = world.ask("/a")
        world.run()
        world.loader.removeAll()
        let after = world.ask("/a")
        world.run()
        return (before, after)
    }

    @Test func askerAfterARemovalStartsAnotherExchange() async throws {
        let world = try ImageWorld()
        let (before, after) = askAroundARemoval(world)
        #expect(world.server.running == [0, 1])
        // The newer exchange ends first: the older one must not replace its image.
        world.queue.enter { world.server.answer(1) }
        world.run()
        #expect(try await after.value.image.text == "1 /v1/a")
        world.answerAll()
        #expect(try await before.value.image.text == "0 /v1/a")
        #expect(world.loader.imageInMemory(at: "/a")?.text == "1 /v1/a")
    }

    @Test func askersOfAClosedLoadLeaveAndCancelIt() async throws {
        let world = try ImageWorld()
        let (before, after) = askAroundARemoval(world)
        world.cancel(before)
        world.run()
        #expect(world.server.cancelled == [0] && world.server.running == [1])
        world.answerAll()
        #expect(try await after.value.image.text == "1 /v1/a")
        #expect(world.loader.memoryCount == 1)
    }

    @Test func removingAnImageRemovesItsVariantsAndNoOther() async throws {
        let world = try ImageWorld()
        let askers = [world.ask("/a"), world.ask("/a", as: Thumbnail(side: 3)), world.ask("/ab"), world.ask("/a?b")]
        world.run()
        world.answerAll()
        for asker in askers { _ = try await asker.value }
        let running = world.ask("/a", as: Thumbnail(side: 4))
        world.run()
        world.loader.remove(at: "/a")
        #expect(world.loader.imageInMemory(at: "/a") == nil)
        #expect(world.loader.imageInMemory(at: "/a", as: Thumbnail(side: 3)) == nil)
        #expect(world.loader.imageInMemory(at: "/ab") != nil && world.loader.imageInMemory(at: "/a?b") != nil)
        world.answerAll()
        #expect(try await running.value.image.text.count == 4)
        #expect(world.loader.memoryCount == 2)
        world.loader.remove(at: "https://img.example.com/v1/ab")
        #expect(world.loader.memoryCount == 1)
    }

    @Test(arguments: 0..<100 as Range<UInt64>)
    func nothingRequestedBeforeARemovalIsInMemoryAfterIt(seed: UInt64) async throws {
        let world = try ImageWorld(seed: seed)
        var random = SeededGenerator(seed: seed)
        var askers: [ImageWorld.Asker] = []
        // The number of requests that were sent before the last removal.
        var sent = 0
        for _ in 0..<60 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0, 1, 2: askers.append(world.ask("/\(Int.random(in: 0..<3, using: &random))"))
            case 3, 4:
                if let number = world.server.running.randomElement(using: &random) {
                    world.queue.enter { world.server.answer(number) }
                }
            case 5, 6: world.queue.runAll(limit: Int.random(in: 1...9, using: &random))
            default:
                world.loader.removeAll()
                sent = world.server.paths.count
            }
            for path in 0..<3 {
                guard let image = world.loader.imageInMemory(at: "/\(path)") else { continue }
                let number = try #require(Int(image.text.prefix { $0 != " " }))
                #expect(number >= sent)
            }
        }
        world.run()
        world.answerAll()
        for asker in askers { _ = try await asker.value }
    }
}
