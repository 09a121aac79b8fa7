import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Synchronization
import Testing

@testable import InterceptorsImages

@Suite(.againstHanging) struct ImageMemoryTests {
    private func key(_ name: String) -> ImageKey { ImageKey(base.appending(path: name), nil) }

    /// A memory with images that cost 10 each, the first the least recently used.
    private func memory(_ names: String..., limit: Int = 30) -> ImageMemory<String> {
        var memory = ImageMemory<String>(limit: limit)
        for name in names { _ = memory.insert(name, cost: 10, for: key(name)) }
        return memory
    }

    @Test func leastRecentlyUsedIsEvictedFirst() {
        var memory = memory("a", "b", "c")
        _ = memory.use(key("a"))
        let evicted = memory.insert("d", cost: 15, for: key("d"))
        #expect(evicted.map(\.image) == ["b", "c"])
        #expect(memory.count == 2 && memory.cost == 25)
        let last = memory.trim(to: 15)
        #expect(last.map(\.image) == ["a"])
    }

    @Test func lookingForAnAbsentImageChangesNothing() {
        var memory = memory("a")
        let found = memory.use(key("b"))
        #expect(found == nil && memory.count == 1 && memory.cost == 10)
    }

    @Test func imageOverTheLimitIsNotKeptAndEvictsNothing() {
        var memory = memory("a", "b")
        let evicted = memory.insert("huge", cost: 31, for: key("c"))
        #expect(evicted.isEmpty && memory.count == 2)
        let exact = memory.insert("exact", cost: 30, for: key("d"))
        #expect(exact.map(\.image) == ["a", "b"] && memory.count == 1 && memory.cost == 30)
    }

    @Test func newerImageReplacesAnEarlierOneOfItsKey() {
        var memory = memory("a", "b")
        let replaced = memory.insert("A", cost: 20, for: key("a"))
        #expect(replaced.map(\.image) == ["a"] && memory.cost == 30 && memory.count == 2)
        let isOver = memory.insert("AA", cost: 31, for: key("a"))
        #expect(isOver.map(\.image) == ["A"] && memory.cost == 10, "The earlier image would be wrong.")
        let found = memory.use(key("a"))
        #expect(found == nil)
    }

    @Test(arguments: [0, -1, .min]) func costBelowOneCountsOne(cost: Int) {
        var memory = ImageMemory<Int>(limit: 3)
        for number in 0..<10 { _ = memory.insert(number, cost: cost, for: key("\(number)")) }
        #expect(memory.count == 3 && memory.cost == 3)
    }

    @Test func extremeLimitsAndCostsNeverOverflow() {
        var most = ImageMemory<Int>(limit: .max)
        for number in 0..<3 { _ = most.insert(number, cost: .max, for: key("\(number)")) }
        #expect(most.count == 1 && most.cost == .max)
        var none = ImageMemory<Int>(limit: .min)
        _ = none.insert(1, cost: 1, for: key("a"))
        #expect(none.count == 0 && none.cost == 0)
    }

    @Test(arguments: 0..<20 as Range<UInt64>) func memoryAgreesWithASimpleModel(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var memory = ImageMemory<Int>(limit: 20)
        // The least recently used first.
        var model: [(name: String, image: Int, cost: Int)] = []
        for step in 0..<500 {
            let name = "\(Int.random(in: 0..<8, using: &random))"
            let index = model.firstIndex { $0.name == name }
            switch Int.random(in: 0..<9, using: &random) {
            case 0:
                _ = memory.removeAll { $0 == key(name) }
                model.removeAll { $0.name == name }
            case 1:
                let cost = Int.random(in: 0..<20, using: &random)
                _ = memory.trim(to: cost)
                while model.map(\.cost).reduce(0, +) > cost { model.removeFirst() }
            case 2...5:
                let found = memory.use(key(name))
                #expect(found == index.map { model[$0].image })
                if let index { model.append(model.remove(at: index)) }
            default:
                let cost = Int.random(in: 1...22, using: &random)
                _ = memory.insert(step, cost: cost, for: key(name))
                if let index { model.remove(at: index) }
                guard cost <= 20 else { break }
                while model.map(\.cost).reduce(0, +) > 20 - cost { model.removeFirst() }
                model.append((name, step, cost))
            }
            #expect(memory.count == model.count && memory.cost == model.map(\.cost).reduce(0, +))
        }
    }

    @Test func loaderEvictsHalfOfTheCostAtAWarningAndAllAtACriticalLevel() async throws {
        let world = try ImageWorld()
        for path in ["/a", "/b", "/c", "/d"] { world.fill(path) }
        #expect(world.loader.memoryCount == 4 && world.loader.memoryCost == 28)
        _ = world.loader.imageInMemory(at: "/a")
        world.loader.yield(isCritical: false)
        #expect(world.loader.memoryCount == 2 && world.loader.memoryCost == 14)
        #expect(world.loader.imageInMemory(at: "/a") != nil && world.loader.imageInMemory(at: "/d") != nil)
        let asker = world.ask("/b")
        world.run()
        world.loader.yield(isCritical: true)
        #expect(world.loader.memoryCount == 0 && world.loader.memoryCost == 0)
        world.answerAll()
        _ = try await asker.value
        #expect(world.loader.memoryCount == 1, "A load in progress may be kept.")
    }

    @Test func loaderWatchesTheSystemsMemory() throws {
        #expect(try ImageWorld().loader.state.withLock { $0.pressure != nil })
    }

    /// Tells its end.
    private final class Lasting: Sendable {
        let end: @Sendable () -> Void

        init(end: @escaping @Sendable () -> Void) { self.end = end }

        deinit { end() }
    }

    @Test func imageThatUsesItsLoaderAtItsEndBlocksNothing() async throws {
        let loaders = Shared<ImageLoader<Lasting>?>(nil)
        let ended = Tally()
        let server = StubTransport { HTTPResponse(status: 200, body: "abc", url: $0.url) }
        let loader = ImageLoader<Lasting>(
            Client(baseURL: base, interceptors: [], transport: server),
            limit: 2,
            decode: { _ in
                Lasting {
                    _ = loaders.value?.memoryCount
                    ended.count()
                }
            },
            cost: { _ in 1 }
        )
        loaders.value = loader
        for path in ["a", "b", "c", "d"] { _ = try await loader.image(at: RequestTarget(text: path)) }
        await ended.reached(2)
        loader.removeAll()
        await ended.reached(4)
        loaders.value = nil
    }

    @Test func variantThatUsesItsLoaderAtItsEndBlocksNothing() async throws {
        struct Form: ImageVariant {
            let number: Int
            let lasting: Lasting
            func image(from content: Data) -> Data { content }
            static func == (left: Self, right: Self) -> Bool { left.number == right.number }
            func hash(into hasher: inout Hasher) { hasher.combine(number) }
        }
        let ended = Tally()
        let server = StubTransport { HTTPResponse(status: 200, body: "abc", url: $0.url) }
        let loader = ImageLoader<Data>(
            Client(baseURL: base, interceptors: [], transport: server),
            limit: 2,
            decode: { $0 },
            cost: { _ in 1 }
        )
        for number in 1...4 {
            let lasting = Lasting { [weak loader] in
                _ = loader?.memoryCount
                ended.count()
            }
            _ = try await loader.image(at: "/a", as: Form(number: number, lasting: lasting))
        }
        await ended.reached(2)
        loader.removeAll()
        await ended.reached(4)
    }
}
