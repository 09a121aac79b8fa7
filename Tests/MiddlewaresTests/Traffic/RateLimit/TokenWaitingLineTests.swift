import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares
@testable import InterceptorsTraffic

@Suite(.againstHanging) struct TokenBucketTests {
    @Test func fullBucketGivesAllItsTokensAtOnceAndThenOneInEachInterval() {
        var bucket = TokenBucket(interval: .seconds(1), capacity: 3)
        for _ in 0..<3 {
            #expect(bucket.wait(at: .zero) == .zero)
            bucket.acquire(at: .zero)
        }
        #expect(bucket.wait(at: .zero) == .seconds(1))
        #expect(bucket.wait(at: .milliseconds(400)) == .milliseconds(600))
        #expect(bucket.wait(at: .seconds(1)) == .zero)
        bucket.acquire(at: .seconds(1))
        #expect(bucket.wait(at: .seconds(1)) == .seconds(1))
        #expect(!bucket.isFull(at: .milliseconds(3999)))
        #expect(bucket.isFull(at: .seconds(4)))
    }

    @Test func savedTokensAreNeverMoreThanTheCapacity() {
        var bucket = TokenBucket(interval: .seconds(1), capacity: 2)
        bucket.acquire(at: .seconds(1000))
        bucket.acquire(at: .seconds(1000))
        #expect(bucket.wait(at: .seconds(1000)) == .seconds(1))
    }

    @Test func waitIsLongerForWhoStandsBehindOthers() {
        var bucket = TokenBucket(interval: .seconds(1), capacity: 2)
        #expect((0..<4).map { bucket.wait(at: .zero, behind: $0) } == [.zero, .zero, .seconds(1), .seconds(2)])
        bucket.acquire(at: .zero)
        #expect((0..<4).map { bucket.wait(at: .zero, behind: $0) } == [.zero, .seconds(1), .seconds(2), .seconds(3)])
    }

    @Test func tokenThatIsNotThereYetIsMissingToTheNext() {
        var bucket = TokenBucket(interval: .seconds(1), capacity: 1)
        for _ in 0..<3 { bucket.acquire(at: .zero) }
        #expect(bucket.wait(at: .zero) == .seconds(3))
    }

    @Test func extremesDoNotOverflow() {
        let bucket = RateLimitInterceptor.bucket(1, per: .seconds(Int64.max), burst: .max)
        #expect(bucket.capacity == 1_000_000)
        #expect(bucket.interval == .seconds(1_000_000_000))
        #expect(bucket.wait(at: .zero, behind: 2_000_000) > .zero)
        #expect(
            RateLimitInterceptor.bucket(-1, per: .seconds(-1), burst: -1) == TokenBucket(interval: .zero, capacity: 1)
        )
    }
}

@Suite(.againstHanging) struct TokenWaitingLineTests {
    private func ask(
        _ line: inout TokenWaitingLine<String>,
        _ name: String,
        at now: Duration = .zero,
        maxQueued: Int? = nil,
        maxWait: Duration? = nil
    ) -> String {
        switch line.enter(at: now, maxQueued: maxQueued, maxWait: maxWait, name) {
        case .go: "go"
        case .lead(let ticket): "leads as \(ticket)"
        case .wait(let ticket, let waiter): "\(waiter) waits as \(ticket)"
        case .full(let waiting): "full at \(waiting)"
        case .tooLong(let wait): "too long: \(wait)"
        }
    }

    private func lead(_ line: inout TokenWaitingLine<String>, _ ticket: Int, at now: Duration) -> String {
        switch line.lead(ticket, at: now) {
        case .go(let next): "go, next \(next ?? "nobody")"
        case .sleep(let due): "sleep until \(due)"
        }
    }

    @Test func firstInLineSleepsAndTheOthersWaitToLead() {
        var line = TokenWaitingLine<String>(TokenBucket(interval: .seconds(1), capacity: 1))
        let answers = ["a", "b", "c", "d"].map { ask(&line, $0) }
        #expect(answers == ["go", "leads as 1", "c waits as 2", "d waits as 3"])
        #expect(lead(&line, 1, at: .zero) == "sleep until 1.0 seconds")
        #expect(lead(&line, 1, at: .seconds(1)) == "go, next c")
        #expect(lead(&line, 2, at: .seconds(1)) == "sleep until 2.0 seconds")
        #expect(lead(&line, 2, at: .seconds(3)) == "go, next d")
        #expect(lead(&line, 3, at: .seconds(3)) == "sleep until 4.0 seconds")
        #expect(lead(&line, 3, at: .seconds(4)) == "go, next nobody")
        #expect(!line.isIdle(at: .milliseconds(4999)))
        #expect(line.isIdle(at: .seconds(5)))
    }

    @Test func tokenThatCameMeanwhileIsForWhoeverWaits() {
        var line = TokenWaitingLine<String>(TokenBucket(interval: .seconds(1), capacity: 1))
        #expect(["a", "b"].map { ask(&line, $0) } == ["go", "leads as 1"])
        // b's token is available, but b hasn't woken yet.
        #expect(ask(&line, "c", at: .seconds(1)) == "c waits as 2")
    }

    @Test func whoLeavesTakesNoTokenAndMovesTheOthersUp() {
        var line = TokenWaitingLine<String>(TokenBucket(interval: .seconds(1), capacity: 1))
        _ = ["a", "b", "c", "d"].map { ask(&line, $0) }
        #expect(line.leave(2) == "c")
        #expect(line.leave(2) == nil)
        #expect(line.resign(1) == "d")
        #expect(line.resign(1) == nil)
        #expect(line.leave(3) == nil)
        #expect(lead(&line, 3, at: .seconds(1)) == "go, next nobody")
        #expect(line.waiting == 0)
    }

    @Test func lineIsBoundedByCountAndByTime() {
        var line = TokenWaitingLine<String>(TokenBucket(interval: .seconds(1), capacity: 1))
        _ = ask(&line, "a")
        #expect(ask(&line, "b", maxQueued: 0) == "full at 0")
        #expect(ask(&line, "b", maxWait: .milliseconds(999)) == "too long: 1.0 seconds")
        #expect(ask(&line, "b", maxWait: .seconds(1)) == "leads as 1")
        #expect(ask(&line, "c", maxQueued: 1) == "full at 1")
        #expect(ask(&line, "c", maxWait: .seconds(1)) == "too long: 2.0 seconds")
        #expect(ask(&line, "c", maxQueued: 2, maxWait: .seconds(2)) == "c waits as 2")
    }

    @Test func noTimeLeftIsNoMatterWhileThereIsAToken() {
        var line = TokenWaitingLine<String>(TokenBucket(interval: .seconds(1), capacity: 1))
        #expect(ask(&line, "a", maxQueued: 0, maxWait: .seconds(-1)) == "go")
    }

    @Test func overtakingMakesTheOthersWaitLonger() {
        var line = TokenWaitingLine<String>(TokenBucket(interval: .seconds(1), capacity: 1))
        _ = ["a", "b"].map { ask(&line, $0) }
        line.bypass(at: .zero)
        #expect(lead(&line, 1, at: .seconds(1)) == "sleep until 2.0 seconds")
        #expect(lead(&line, 1, at: .seconds(2)) == "go, next nobody")
    }

    /// In any order of events, the order of arrival is kept, and no time span admits more than the bucket allows.
    @Test(arguments: 0..<20)
    func anyOrderOfEventsKeepsTheOrderAndTheRate(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let capacity = Int.random(in: 1...5, using: &random)
        var line = TokenWaitingLine<Int>(TokenBucket(interval: .seconds(1), capacity: capacity))
        var now = Duration.zero
        var served: [(ticket: Int, time: Duration)] = []
        var leader: Int?
        var others: [Int] = []
        for _ in 0..<3000 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0, 1, 2:
                switch line.enter(at: now, maxQueued: 20, maxWait: nil, 0) {
                case .go:
                    #expect(leader == nil)
                    served.append((served.last?.ticket ?? 0, now))
                case .lead(let ticket):
                    #expect(leader == nil)
                    leader = ticket
                case .wait(let ticket, _):
                    #expect(leader != nil)
                    others.append(ticket)
                case .full: #expect(others.count == 19)
                case .tooLong: Issue.record("no limit was given")
                }
            case 3: now += .milliseconds(Int.random(in: 0...1500, using: &random))
            case 4, 5:
                guard let current = leader else { break }
                if case .go(let next) = line.lead(current, at: now) {
                    served.append((current, now))
                    #expect((next == nil) == others.isEmpty)
                    leader = others.isEmpty ? nil : others.removeFirst()
                }
            case 6:
                guard let current = leader else { break }
                #expect((line.resign(current) == nil) == others.isEmpty)
                leader = others.isEmpty ? nil : others.removeFirst()
            default:
                guard let index = others.indices.randomElement(using: &random) else { break }
                #expect(line.leave(others.remove(at: index)) != nil)
            }
        }
        #expect(served.map(\.ticket) == served.map(\.ticket).sorted())
        for first in served.indices {
            for last in first..<min(served.count, first + 50) {
                let span = served[last].time - served[first].time
                #expect(last - first + 1 <= capacity + Int(span.components.seconds))
            }
        }
    }
}
