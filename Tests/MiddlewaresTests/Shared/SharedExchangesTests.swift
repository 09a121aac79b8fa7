import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares
@testable import InterceptorsTraffic

@Suite(.againstHanging) struct SharedExchangesTests {
    private typealias Exchanges = SharedExchanges<ExchangeIdentity, String, String>

    private func identity(_ path: String) throws -> ExchangeIdentity {
        try #require(ExchangeIdentity(of: HTTPRequest(url: try url("https://h/\(path)")), ignoring: []))
    }

    @Test func identicalRequestsJoinTheExchangeInFlight() throws {
        var exchanges = Exchanges()
        let (one, two) = (try identity("1"), try identity("2"))
        let a = exchanges.join(one, origin: nil, "a")
        let b = exchanges.join(one, origin: nil, "b")
        let c = exchanges.join(two, origin: nil, "c")
        #expect([a, b, c].map(\.isFirst) == [true, false, true])
        #expect(a.exchange == b.exchange)
        #expect(a.exchange != c.exchange)
        #expect(exchanges.finish(a.exchange) == ["a", "b"])
        #expect(exchanges.finish(a.exchange) == [])
        let d = exchanges.join(one, origin: nil, "d")
        #expect(d.isFirst)
    }

    @Test func exchangeGoesOnUntilTheLastWaiterLeaves() throws {
        var exchanges = Exchanges()
        let one = try identity("1")
        let a = exchanges.join(one, origin: nil, "a")
        let isWanted = exchanges.attach("work", to: a.exchange)
        #expect(isWanted)
        let b = exchanges.join(one, origin: nil, "b")
        let left = exchanges.leave(a)
        #expect(left == ("a", nil))
        let again = exchanges.leave(a)
        #expect(again == (nil, nil))
        let c = exchanges.join(one, origin: nil, "c")
        #expect(!c.isFirst)
        #expect(exchanges.waiters(of: b.exchange) == ["b", "c"])
        let next = exchanges.leave(b)
        #expect(next == ("b", nil))
        #expect(exchanges.counts == (1, 1))
    }

    @Test func abandonedExchangeIsCancelledAndCannotBeJoined() throws {
        var exchanges = Exchanges()
        let one = try identity("1")
        let a = exchanges.join(one, origin: nil, "a")
        _ = exchanges.attach("work", to: a.exchange)
        let left = exchanges.leave(a)
        #expect(left == ("a", "work"))
        let b = exchanges.join(one, origin: nil, "b")
        #expect(b.isFirst)
        #expect(exchanges.finish(a.exchange) == [])
        #expect(exchanges.finish(b.exchange) == ["b"])
        #expect(exchanges.counts == (0, 0))
    }

    @Test func workThatComesTooLateIsTurnedAway() throws {
        var exchanges = Exchanges()
        let a = exchanges.join(try identity("1"), origin: nil, "a")
        let left = exchanges.leave(a)
        #expect(left == ("a", nil))
        let isWanted = exchanges.attach("work", to: a.exchange)
        #expect(!isWanted)
    }

    @Test func closedExchangeServesItsWaitersButNobodyElse() throws {
        var exchanges = Exchanges()
        let one = try identity("1")
        let (here, there) = (try #require(Origin(try url("https://h/"))), try #require(Origin(try url("https://g/"))))
        let a = exchanges.join(one, origin: here, "a")
        exchanges.close(there)
        let b = exchanges.join(one, origin: here, "b")
        #expect(!b.isFirst)
        exchanges.close(here)
        let c = exchanges.join(one, origin: here, "c")
        #expect(c.isFirst)
        #expect(exchanges.finish(a.exchange) == ["a", "b"])
        let d = exchanges.join(one, origin: here, "d")
        #expect(!d.isFirst)
        #expect(exchanges.finish(c.exchange) == ["c", "d"])
    }

    @Test func exchangesOfChosenIdentitiesAreClosed() throws {
        var exchanges = Exchanges()
        let (one, two) = (try identity("1"), try identity("2"))
        let a = exchanges.join(one, "a")
        let b = exchanges.join(two, "b")
        exchanges.close { $0 == one }
        #expect(!exchanges.isOpen(a.exchange) && exchanges.isOpen(b.exchange))
        let c = exchanges.join(one, "c")
        #expect(c.isFirst && exchanges.isOpen(c.exchange) && !exchanges.isOpen(a.exchange))
        #expect(exchanges.finish(a.exchange) == ["a"])
        #expect(exchanges.isOpen(c.exchange))
        #expect(exchanges.finish(c.exchange) == ["c"])
        #expect(!exchanges.isOpen(c.exchange))
    }

    @Test(arguments: 0..<20)
    func anyOrderOfEventsTellsEachWaiterOnceAndAbandonsNobody(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var exchanges = SharedExchanges<ExchangeIdentity, Int, Int>()
        let identities = try (0..<3).map { try identity("\($0)") }
        let origin = try #require(Origin(try url("https://h/")))
        var waiting: [(name: Int, place: SharedExchanges<ExchangeIdentity, Int, Int>.Place)] = []
        var running: Set<Int> = []
        var told: [Int] = []
        for name in 1...2000 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0, 1, 2, 3:
                let place = exchanges.join(random.oneOf(identities), origin: origin, name)
                #expect(place.isFirst == !running.contains(place.exchange))
                waiting.append((name, place))
                running.insert(place.exchange)
                if place.isFirst { #expect(exchanges.attach(place.exchange, to: place.exchange) == true) }
            case 4, 5:
                guard let index = waiting.indices.randomElement(using: &random) else { break }
                let (name, place) = waiting.remove(at: index)
                let (waiter, abandoned) = exchanges.leave(place)
                #expect(waiter == name)
                told.append(name)
                let isLast = !waiting.contains { $0.place.exchange == place.exchange }
                #expect(abandoned == (isLast ? place.exchange : nil))
                if isLast { running.remove(place.exchange) }
            case 6:
                guard let exchange = running.randomElement(using: &random) else { break }
                let waiters = exchanges.finish(exchange)
                #expect(waiters == waiting.filter { $0.place.exchange == exchange }.map(\.name))
                waiting.removeAll { $0.place.exchange == exchange }
                running.remove(exchange)
                told += waiters
            default: exchanges.close(origin)
            }
            #expect(exchanges.counts == (running.count, waiting.count))
        }
        #expect(Set(told).count == told.count)
    }
}
