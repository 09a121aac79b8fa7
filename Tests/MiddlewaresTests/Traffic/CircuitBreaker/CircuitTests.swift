import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares
@testable import InterceptorsTraffic

@Suite(.againstHanging) struct CircuitTests {
    /// An event and an expectation: one line of a table.
    private enum Step {
        /// The circuit admits a request, which is answered at once.
        case call(CircuitVerdict)
        /// The circuit admits a request. A later `answer` refers to it by its index among the sent ones.
        case send
        case answer(Int, CircuitVerdict)
        /// The circuit refuses a request.
        case refused(next: Duration)
        case advance(Duration)
        case state(CircuitState)
    }

    private func run(_ rules: Circuit.Rules, _ steps: [Step], sourceLocation: SourceLocation = #_sourceLocation) {
        var circuit = Circuit(rules)
        var now = Duration.zero
        var sent: [Circuit.Pass] = []
        for (index, step) in steps.enumerated() {
            let comment: Comment = "step \(index): \(step)"
            switch step {
            case .call(let verdict):
                guard case .go(let pass) = circuit.admit(at: now) else {
                    Issue.record(comment, sourceLocation: sourceLocation)
                    continue
                }
                circuit.record(verdict, of: pass, at: now)
            case .send:
                guard case .go(let pass) = circuit.admit(at: now) else {
                    Issue.record(comment, sourceLocation: sourceLocation)
                    continue
                }
                sent.append(pass)
            case .answer(let number, let verdict): circuit.record(verdict, of: sent[number], at: now)
            case .refused(let next):
                #expect(circuit.admit(at: now) == .refused(nextProbe: next), comment, sourceLocation: sourceLocation)
            case .advance(let duration): now += duration
            case .state(let state): #expect(circuit.state == state, comment, sourceLocation: sourceLocation)
            }
        }
    }

    private let rules = Circuit.Rules(trip: .consecutiveFailures(2), openFor: .seconds(30), probes: 1)
    private let opening: [Step] = [.call(.failure), .call(.failure)]

    @Test func failuresInARowOpenIt() {
        run(rules, [.call(.failure), .state(.closed), .call(.failure), .state(.open), .refused(next: .seconds(30))])
    }

    @Test func successBeginsTheRowAnewAndWhatIsIgnoredDoesNot() {
        run(
            rules,
            [
                .call(.failure), .call(.success), .call(.failure), .state(.closed), .call(.ignored), .call(.failure),
                .state(.open),
            ]
        )
    }

    @Test func openCircuitSaysWhenTheNextProbeMayGo() {
        run(
            rules,
            opening + [
                .advance(.seconds(10)), .refused(next: .seconds(20)), .advance(.milliseconds(19_999)),
                .refused(next: .milliseconds(1)), .state(.open), .advance(.milliseconds(1)), .send, .state(.halfOpen),
            ]
        )
    }

    @Test func oneProbeGoesAndItsSuccessClosesTheCircuit() {
        run(
            rules,
            opening + [
                .advance(.seconds(30)), .send, .refused(next: .seconds(30)), .advance(.seconds(1)),
                .refused(next: .seconds(29)), .answer(0, .success), .state(.closed), .call(.failure), .state(.closed),
            ]
        )
    }

    @Test func failedProbeOpensItForTheSameTimeAgain() {
        run(
            rules,
            opening + [
                .advance(.seconds(30)), .send, .advance(.seconds(5)), .answer(0, .failure), .state(.open),
                .refused(next: .seconds(30)), .advance(.seconds(30)), .call(.success), .state(.closed),
            ]
        )
    }

    @Test func cancelledProbeMakesRoomForAnother() {
        run(
            rules,
            opening + [
                .advance(.seconds(30)), .send, .answer(0, .ignored), .state(.halfOpen), .send,
                .refused(next: .seconds(30)), .answer(1, .success), .state(.closed),
            ]
        )
    }

    @Test func probeThatHangsMakesRoomForAnotherAndCountsWhenItEnds() {
        run(
            rules,
            opening + [
                .advance(.seconds(30)), .send, .advance(.seconds(30)), .send, .refused(next: .seconds(30)),
                .answer(0, .success), .state(.closed), .answer(1, .failure), .state(.closed),
            ]
        )
    }

    @Test func neverMoreProbesAreUnderWayThanMustStillSucceed() {
        let rules = Circuit.Rules(trip: .consecutiveFailures(2), openFor: .seconds(30), probes: 3)
        run(
            rules,
            opening + [
                .advance(.seconds(30)), .send, .send, .send, .refused(next: .seconds(30)), .answer(0, .success),
                .refused(next: .seconds(30)), .answer(1, .success), .state(.halfOpen), .refused(next: .seconds(30)),
                .answer(2, .success), .state(.closed),
            ]
        )
        run(
            rules,
            opening + [
                .advance(.seconds(30)), .send, .send, .answer(0, .success), .answer(1, .failure), .state(.open),
            ]
        )
    }

    @Test func answersThatComeAfterTheStateHasChangedDoNotCount() {
        run(
            rules,
            [
                .send, .send, .send, .send, .answer(0, .failure), .answer(1, .failure), .state(.open),
                .answer(2, .success), .state(.open), .advance(.seconds(30)), .send, .answer(3, .failure),
                .state(.halfOpen), .answer(4, .success), .state(.closed),
            ]
        )
    }

    @Test func failuresOfBeforeItOpenedThatComeAfterItHasClosedDoNotCount() {
        run(
            rules,
            [.send, .send] + opening + [
                .advance(.seconds(30)), .call(.success), .state(.closed), .answer(0, .failure), .answer(1, .failure),
                .state(.closed), .call(.failure), .state(.closed), .call(.failure), .state(.open),
            ]
        )
    }

    @Test func probeIsCountedOnce() {
        let rules = Circuit.Rules(trip: .consecutiveFailures(2), openFor: .seconds(30), probes: 2)
        run(
            rules,
            opening + [
                .advance(.seconds(30)), .send, .answer(0, .success), .answer(0, .success), .state(.halfOpen),
                .call(.success), .state(.closed),
            ]
        )
    }

    @Test func answerOfAnotherCircuitDoesNotCount() {
        var (old, new) = (Circuit(rules, number: 1), Circuit(rules, number: 2))
        for _ in 0..<3 {
            guard case .go(let pass) = old.admit(at: .zero) else {
                Issue.record("closed")
                return
            }
            new.record(.failure, of: pass, at: .zero)
        }
        #expect(new.state == .closed)
    }

    @Test func rateOpensItOnceThereAreEnoughRequests() {
        let rules = Circuit.Rules(
            trip: .failureRate(0.5, ofAtLeast: 4, within: .seconds(10)),
            openFor: .seconds(30),
            probes: 1
        )
        run(
            rules,
            [.call(.failure), .call(.failure), .call(.failure), .state(.closed), .call(.failure), .state(.open)]
        )
        run(
            rules,
            [.call(.success), .call(.success), .call(.success), .call(.failure), .call(.failure), .state(.closed)]
        )
        run(rules, [.call(.success), .call(.success), .call(.failure), .call(.failure), .state(.open)])
        // The failures suffice for the rate only with the fourth call, and a success never opens the circuit.
        run(rules, [.call(.failure), .call(.failure), .call(.failure), .call(.success), .state(.closed)])
    }

    @Test func rateForgetsWhatLiesTooFarBack() {
        let rules = Circuit.Rules(
            trip: .failureRate(0.5, ofAtLeast: 4, within: .seconds(10)),
            openFor: .seconds(30),
            probes: 1
        )
        run(
            rules,
            [
                .call(.failure), .call(.failure), .call(.failure), .advance(.seconds(10)), .call(.failure),
                .state(.closed), .call(.failure), .call(.failure), .advance(.milliseconds(8999)), .call(.failure),
                .state(.open),
            ]
        )
    }

    @Test func rateIsKeptInTenSlicesHoweverManyTheRequests() {
        let trip = CircuitTrip.failureRate(1, ofAtLeast: .max, within: .seconds(1))
        var count = trip.count
        for step in 0..<10_000 { _ = count.add(.failure, at: .milliseconds(step), trip) }
        guard case .window(let slices, _) = count else {
            Issue.record("a rate is kept as a window")
            return
        }
        #expect(slices.count == 10)
        #expect(slices.reduce(0) { $0 + $1.requests } == 1000)
        #expect(!count.isEmpty(at: .seconds(10)))
        #expect(count.isEmpty(at: .seconds(11)))
    }

    @Test func circuitThatIsAsNewIsIdle() {
        var circuit = Circuit(rules)
        #expect(circuit.isIdle(at: .zero))
        guard case .go(let pass) = circuit.admit(at: .zero) else {
            Issue.record("closed")
            return
        }
        circuit.record(.failure, of: pass, at: .zero)
        #expect(!circuit.isIdle(at: .seconds(1000)))
        circuit.record(.success, of: pass, at: .zero)
        #expect(circuit.isIdle(at: .zero))
    }

    /// In any order of events, the number of probes is bounded, and the circuit can always close again.
    @Test(arguments: 0..<20)
    func anyOrderOfEventsBoundsTheProbesAndRecovers(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let probes = Int.random(in: 1...3, using: &random)
        let trip: CircuitTrip =
            Bool.random(using: &random)
            ? .consecutiveFailures(3) : .failureRate(0.5, ofAtLeast: 5, within: .seconds(60))
        var circuit = Circuit(Circuit.Rules(trip: trip, openFor: .seconds(30), probes: probes))
        var now = Duration.zero
        var sent: [(pass: Circuit.Pass, start: Duration)] = []
        for _ in 0..<3000 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                switch circuit.admit(at: now) {
                case .go(let pass): sent.append((pass, now))
                case .refused(let next): #expect(next > .zero && next <= .seconds(30))
                }
            case 2:
                guard let index = sent.indices.randomElement(using: &random) else { break }
                let verdict = CircuitVerdict.allCases.randomElement(using: &random) ?? .ignored
                circuit.record(verdict, of: sent.remove(at: index).pass, at: now)
            default: now += .seconds(Int.random(in: 0...10, using: &random))
            }
            if circuit.state == .halfOpen {
                let young = sent.filter { $0.pass.probe != nil && now < $0.start + .seconds(30) }
                #expect(young.count <= probes)
            }
        }
        now += .seconds(30)
        for _ in 0..<probes {
            guard case .go(let pass) = circuit.admit(at: now) else { break }
            circuit.record(.success, of: pass, at: now)
        }
        #expect(circuit.state == .closed)
    }
}
