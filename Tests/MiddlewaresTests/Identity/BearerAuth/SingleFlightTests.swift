import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct SingleFlightTests {
    private typealias Flights = SingleFlight<String, Int>

    /// Asks as a task does: takes a ticket, then waits. The ticket's number serves as the waiter.
    private func ask(_ flights: inout Flights, rejecting rejected: CredentialGeneration?) -> (Int, Answer) {
        let ticket = flights.issueTicket()
        return (ticket, Answer(flights.wait(ticket, ticket, rejecting: rejected)))
    }

    @Test func parallelRejectionsStartOneFlight() {
        var flights = Flights("old")
        let rejected = flights.current.generation
        let answers = (0..<100).map { _ in ask(&flights, rejecting: rejected).1 }
        #expect(answers.first == .start("old"))
        #expect(Array(answers.dropFirst()) == (2...100).map { .wait($0) })
    }

    @Test func countOfWaitersLeavesOutIssuedAndCancelledTickets() {
        var flights = Flights("old")
        let rejected = flights.current.generation
        let late = flights.issueTicket()
        let cancelled = ask(&flights, rejecting: rejected).0
        #expect(ask(&flights, rejecting: rejected).1 == .wait(2))
        #expect(flights.cancel(cancelled) == cancelled)
        #expect(Answer(flights.wait(late, late, rejecting: rejected)) == .wait(2))
    }

    @Test func callerThatMayNotStartAFlightFailsAloneButJoinsARunningOne() {
        struct NotAllowed: Error {}
        var flights = Flights("old")
        let rejected = flights.current.generation
        func askWithoutStarting() -> Answer {
            let ticket = flights.issueTicket()
            return Answer(flights.wait(ticket, ticket, rejecting: rejected, unlessStarting: NotAllowed()))
        }
        #expect(askWithoutStarting() == .told(.failed))
        #expect(flights.flight == nil)
        #expect(ask(&flights, rejecting: rejected).1 == .start("old"))
        #expect(askWithoutStarting() == .wait(2))
    }

    @Test func endedFlightServesAllInTheOrderInWhichTheyCame() throws {
        var flights = Flights("old")
        let rejected = flights.current.generation
        let tickets = (0..<100).map { _ in ask(&flights, rejecting: rejected).0 }
        let flight = try #require(flights.flight)
        let resumption = flights.finish(flight, with: .success("new"))
        #expect(resumption?.waiters == tickets)
        #expect(resumption.map { Told($0.outcome) } == .value("new"))
        #expect(flights.current.value == "new")
        #expect(flights.flight == nil)
    }

    @Test func lateRejectionOfAnOlderGenerationGetsTheCurrentValue() throws {
        var flights = Flights("old")
        let rejected = flights.current.generation
        _ = ask(&flights, rejecting: rejected)
        _ = flights.finish(try #require(flights.flight), with: .success("new"))
        #expect(ask(&flights, rejecting: rejected).1 == .told(.value("new")))
        #expect(flights.flight == nil)
    }

    @Test func rejectionOfTheNewGenerationStartsAnotherFlight() throws {
        var flights = Flights("old")
        _ = ask(&flights, rejecting: flights.current.generation)
        _ = flights.finish(try #require(flights.flight), with: .success("new"))
        #expect(ask(&flights, rejecting: flights.current.generation).1 == .start("new"))
    }

    @Test func whoRejectsNothingJoinsAFlightButStartsNone() {
        var flights = Flights("old")
        #expect(ask(&flights, rejecting: nil).1 == .told(.value("old")))
        _ = ask(&flights, rejecting: flights.current.generation)
        #expect(ask(&flights, rejecting: nil).1 == .wait(2))
    }

    @Test func failureIsToldToAllAndTheNextStartsAnew() throws {
        var flights = Flights("old")
        let rejected = flights.current.generation
        let tickets = (0..<3).map { _ in ask(&flights, rejecting: rejected).0 }
        let resumption = flights.finish(try #require(flights.flight), with: .failure(RefreshRefused()))
        #expect(resumption?.waiters == tickets)
        #expect(resumption.map { Told($0.outcome) } == .failed)
        #expect(flights.current.generation == rejected)
        #expect(ask(&flights, rejecting: rejected).1 == .start("old"))
    }

    @Test(arguments: [true, false])
    func resultOfAnOvertakenFlightIsDiscarded(bySignOut: Bool) throws {
        var flights = Flights("old")
        let (waiter, _) = ask(&flights, rejecting: flights.current.generation)
        let flight = try #require(flights.flight)
        let resumption = bySignOut ? flights.close("none") : flights.replace("other")
        #expect(resumption.waiters == [waiter])
        #expect(Told(resumption.outcome) == (bySignOut ? .closed : .value("other")))
        #expect(flights.finish(flight, with: .success("new")) == nil)
        #expect(flights.current.value == (bySignOut ? "none" : "other"))
    }

    @Test func overtakenFlightDoesNotEndTheNextOne() throws {
        var flights = Flights("a")
        _ = ask(&flights, rejecting: flights.current.generation)
        let first = try #require(flights.flight)
        _ = flights.replace("b")
        let (waiter, answer) = ask(&flights, rejecting: flights.current.generation)
        #expect(answer == .start("b"))
        let second = try #require(flights.flight)
        #expect(flights.finish(first, with: .success("of the first")) == nil)
        #expect(flights.flight == second)
        #expect(flights.finish(second, with: .success("c"))?.waiters == [waiter])
        #expect(flights.current.value == "c")
    }

    @Test func nothingStartsWhileClosed() {
        var flights = Flights("old")
        let before = flights.current.generation
        _ = flights.close("none")
        #expect(ask(&flights, rejecting: flights.current.generation).1 == .told(.closed))
        #expect(ask(&flights, rejecting: before).1 == .told(.closed))
        #expect(ask(&flights, rejecting: nil).1 == .told(.value("none")))
    }

    @Test func generationFromBeforeASignOutIsNeverGivenTheValueOfAfterIt() {
        var flights = Flights("of one user")
        let before = flights.current.generation
        _ = flights.close("none")
        _ = flights.replace("of another user")
        #expect(!flights.canRenew(before))
        #expect(ask(&flights, rejecting: before).1 == .told(.closed))
        #expect(flights.canRenew(flights.current.generation))
    }

    @Test func cancelledWaiterLeavesAloneAndTheFlightGoesOn() throws {
        var flights = Flights("old")
        let rejected = flights.current.generation
        let (starter, _) = ask(&flights, rejecting: rejected)
        let (other, _) = ask(&flights, rejecting: rejected)
        let flight = try #require(flights.flight)
        #expect(flights.cancel(starter) == starter)
        #expect(flights.flight == flight)
        #expect(flights.finish(flight, with: .success("new"))?.waiters == [other])
    }

    @Test func valueIsKeptWhenAllWaitersWereCancelled() throws {
        var flights = Flights("old")
        let (starter, _) = ask(&flights, rejecting: flights.current.generation)
        _ = flights.cancel(starter)
        let resumption = flights.finish(try #require(flights.flight), with: .success("new"))
        #expect(resumption?.waiters.isEmpty == true)
        #expect(flights.current.value == "new")
    }

    @Test func cancellationAfterTheAnswerDoesNothing() throws {
        var flights = Flights("old")
        let (ticket, _) = ask(&flights, rejecting: flights.current.generation)
        _ = flights.finish(try #require(flights.flight), with: .success("new"))
        #expect(flights.cancel(ticket) == nil)
        #expect(flights.cancel(ticket) == nil)
    }

    @Test(arguments: 0..<20)
    func anyOrderOfEventsAnswersEachWaiterOnce(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var flights = Flights("0")
        var asked: Set<Int> = []
        var answered: [Int] = []
        var running: [Int] = []
        var seen: [CredentialGeneration] = [flights.current.generation]
        for step in 1...2000 {
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<6:
                let ticket = flights.issueTicket()
                asked.insert(ticket)
                if Int.random(in: 0..<8, using: &random) == 0 { #expect(flights.cancel(ticket) == nil) }
                let had = flights.flight
                switch flights.wait(ticket, ticket, rejecting: seen.randomElement(using: &random)) {
                case .start(let flight, _):
                    #expect(had == nil, "Only one flight is awaited.")
                    running.append(flight)
                case .end: answered.append(ticket)
                case .wait: break
                }
            case 6, 7:
                if let ticket = asked.randomElement(using: &random), let waiter = flights.cancel(ticket) {
                    answered.append(waiter)
                }
            case 8, 9:
                guard let index = running.indices.randomElement(using: &random) else { break }
                let isFailure = Bool.random(using: &random)
                let result: Result<String, any Error> = isFailure ? .failure(RefreshRefused()) : .success("\(step)")
                let before = flights.current.value
                let resumption = flights.finish(running.remove(at: index), with: result)
                answered += resumption?.waiters ?? []
                if resumption == nil || isFailure { #expect(flights.current.value == before) }
            case 10: answered += flights.replace("\(step)").waiters
            default: answered += flights.close("none").waiters
            }
            if flights.current.generation != seen.last {
                #expect(flights.current.generation.number == (seen.last?.number ?? 0) + 1)
                seen.append(flights.current.generation)
            }
        }
        answered += flights.close("none").waiters
        #expect(answered.count == asked.count)
        #expect(Set(answered) == asked)
    }
}

/// A step in a form that can be compared.
private enum Answer: Equatable {
    case wait(Int)
    case start(String)
    case told(Told)

    init(_ step: SingleFlight<String, Int>.Step) {
        self =
            switch step {
            case .wait(let count): .wait(count)
            case .start(_, let rejected): .start(rejected)
            case .end(let outcome): .told(Told(outcome))
            }
    }
}

private enum Told: Equatable {
    case value(String)
    case closed
    case failed

    init(_ outcome: SingleFlight<String, Int>.Outcome) {
        self =
            switch outcome {
            case .success(let credential): .value(credential.value)
            case .failure(let error as AuthenticationError) where error.code == .signedOut: .closed
            case .failure: .failed
            }
    }
}
