import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransfers
import Synchronization
import Testing

/// For every behaviour of the server and every order of the tasks, a download ends with the right bytes or an error.
@Suite(.againstHanging, .heavy) struct RangePropertyTests {
    private static let films = [Data.letters(120), Data.letters(120, from: 9), Data.letters(130, from: 4)]

    /// Random content, digest and faults.
    private static func server(_ random: inout SeededGenerator) -> FaultyServer {
        let versions = random.oneOf([[films[0]], [films[0], films[1]], [films[0], films[2]]])
        return FaultyServer(
            versions: versions,
            keepsItsTag: versions.count > 1 && Int.random(in: 0..<3, using: &random) == 0,
            change: Int.random(in: 1...8, using: &random),
            faults: random.oneOf([[], FaultyServer.passing, FaultyServer.passing, FaultyServer.Fault.allCases]),
            seed: random.next()
        )
    }

    private static func resuming(_ random: inout SeededGenerator, acrossLaunches: Bool) -> DownloadResuming {
        var resuming = DownloadResuming.bothExtents[acrossLaunches ? 1 : 0]
        resuming.answerLimit = Int.random(in: 1...8, using: &random)
        resuming.checkpoint.bytes = Int64.random(in: 1...10, using: &random)
        return resuming
    }

    /// Checks the destination after a call.
    private func check(
        _ place: Destination,
        _ server: FaultyServer,
        hasDigest: Bool,
        _ error: (any Error)?,
        _ label: String
    ) {
        switch error {
        case nil:
            let isRight =
                hasDigest ? place.content == server.versions.last : server.versions.contains { $0 == place.content }
            #expect(isRight, "\(label)")
            #expect(place.names == ["film.mp4"], "\(label)")
        case is TransferError, is TransportError, is StatusError:
            #expect(place.content == nil, "\(label)")
            #expect(server.isFaulty, "\(label): \(String(describing: error))")
        default: Issue.record("\(label): \(String(describing: error))")
        }
    }

    @Test(arguments: 0..<6 as Range<UInt64>) func inAnyOrderTheBytesAreRightOrMissing(block: UInt64) async throws {
        var successes = 0
        for seed in (block * 250)..<(block * 250 + 250) {
            var random = SeededGenerator(seed: seed)
            let server = Self.server(&random)
            let hasDigest = server.keepsItsTag || Bool.random(using: &random)
            let digest = hasDigest ? try server.versions.last?.sha256 : nil
            // Across launches, a task also waits for the disk while others write.
            let resuming = Self.resuming(&random, acrossLaunches: seed % 2 == 1)
            let place = try Destination()
            let counts = Notes<Int64>()
            let (queue, stub) = (try JobQueue(seed: seed), server.stub())
            let error = try queue.failure {
                _ = try await makeClient(stub)
                    .download("/film", to: place.file, resuming: resuming, sha256: digest) { progress in
                        counts.add(progress.completed)
                    }
            }
            check(place, server, hasDigest: hasDigest, error, "seed \(seed)")
            if error == nil { successes += 1 }
            #expect(stub.openBodies == 0 && stub.requests.count < 150, "seed \(seed)")
            #expect(!server.isSteady || counts.all == counts.all.sorted(), "seed \(seed): the progress never goes back")
        }
        #expect(successes > 100)
    }

    @Test(arguments: 0..<6 as Range<UInt64>) func whatAKilledProcessLeavesIsContinuedOrForgotten(
        block: UInt64
    ) async throws {
        var leftovers = 0
        for seed in (block * 80)..<(block * 80 + 80) {
            var random = SeededGenerator(seed: seed)
            let server = Self.server(&random)
            let hasDigest = server.keepsItsTag || Bool.random(using: &random)
            let digest = hasDigest ? try server.versions.last?.sha256 : nil
            let resuming = Self.resuming(&random, acrossLaunches: true)
            let (place, grave) = (try Destination(), try Destination())
            let (kill, reports, stub) = (Int.random(in: 1...20, using: &random), Tally(), server.stub())
            var failure: (any Error)?
            do {
                try await makeClient(stub)
                    .download("/film", to: place.file, resuming: resuming, sha256: digest) { _ in
                        if reports.count() == kill { place.copy(to: grave) }
                    }
            } catch { failure = error }
            check(place, server, hasDigest: hasDigest, failure, "seed \(seed)")
            if grave.names.contains(".film.mp4.part") { leftovers += 1 }
            for _ in 0..<4 where grave.content == nil {
                _ = try? await makeClient(stub).download("/film", to: grave.file, resuming: resuming, sha256: digest)
            }
            let isRight =
                hasDigest ? grave.content == server.versions.last : server.versions.contains { $0 == grave.content }
            #expect(isRight || grave.content == nil && server.isFaulty, "seed \(seed)")
            #expect(stub.openBodies == 0, "seed \(seed)")
        }
        #expect(leftovers > 20)
    }
}

/// A server that changes its content, and answers some requests wrongly.
private final class FaultyServer: Sendable {
    enum Fault: CaseIterable {
        // The next request may be answered.
        case cut, tooManyRequests, overloaded, noConnection, sendsLess
        // The answer is of no use.
        case ignoresRange, refusesRange, anotherTotal, anotherStart, anotherVersion, isCoded, forbidden, sendsMore
    }

    static let passing: [Fault] = [.cut, .tooManyRequests, .overloaded, .noConnection, .sendsLess]

    let versions: [Data]
    let keepsItsTag: Bool
    private let change: Int
    private let faults: [Fault]
    private let random: Mutex<SeededGenerator>

    init(versions: [Data], keepsItsTag: Bool, change: Int, faults: [Fault], seed: UInt64) {
        self.versions = versions
        self.keepsItsTag = keepsItsTag
        self.change = change
        self.faults = faults
        random = Mutex(SeededGenerator(seed: seed))
    }

    /// Whether a call may fail.
    var isFaulty: Bool { !faults.isEmpty || keepsItsTag || versions.count > 1 }
    /// Whether no call starts over.
    var isSteady: Bool { versions.count == 1 && faults.count <= Self.passing.count }

    func stub() -> StubTransport {
        let requests = Tally()
        return StubTransport { [self] request in
            let number = requests.count() > change ? versions.count - 1 : 0
            let fault = random.withLock { random in
                faults.isEmpty || Int.random(in: 0..<10, using: &random) < 6 ? nil : random.oneOf(faults)
            }
            return try answer(request, number: number, fault)
        }
    }

    private func answer(_ request: HTTPRequest, number: Int, _ fault: Fault?) throws -> HTTPResponse {
        let lies: [Fault: RangedFile.Lie] = [
            .ignoresRange: .ignoresRanges, .refusesRange: .refusesRanges, .anotherTotal: .namesAnotherTotal,
            .anotherStart: .startsElsewhere, .anotherVersion: .confirmsAnotherVersion, .isCoded: .codesRanges,
            .sendsMore: .sendsMoreThanPromised, .sendsLess: .sendsLessThanAsked,
        ]
        switch fault {
        case .tooManyRequests: return HTTPResponse(status: 429)
        case .overloaded: return HTTPResponse(status: 503)
        case .forbidden: return HTTPResponse(status: 403)
        case .noConnection: throw TransportError(.cannotConnect, "No.")
        default: break
        }
        var file = RangedFile(versions[number], lie: fault.flatMap { lies[$0] } ?? .nothing)
        file.fixedTag = "\"\(keepsItsTag ? 0 : number)\""
        let (status, fields, body) = file.answer(request.headers, number: 0)
        let cut = random.withLock { Int.random(in: 0...body.count, using: &$0) }
        let isCut = fault == .cut && cut < body.count
        let pieces = Pieces(
            bytes: isCut ? body.prefix(cut) : body,
            failure: isCut ? TransportError(.connectionLost, "Cut.") : nil
        )
        return HTTPResponse(status: status, headers: fields, body: .oneShot(pieces))
    }
}

extension Destination {
    /// Copies the hidden files, as a process that is killed now leaves them.
    fileprivate func copy(to other: Destination) {
        // The state first: a record may name fewer bytes than are in the part, never more.
        for name in [".film.mp4.part-state", ".film.mp4.part"] {
            try? FileManager.default.copyItem(at: folder.file(name), to: other.folder.file(name))
        }
    }
}

extension JobQueue {
    /// Runs an operation, also while it waits for the disk. Returns its error; `nil` after a success.
    fileprivate func failure(_ operation: @escaping @Sendable () async throws -> Void) throws -> (any Error)? {
        let outcome = Outcome()
        enter {
            _ = Task(executorPreference: self) {
                do { try await operation() } catch { outcome.error.withLock { $0 = error } }
                outcome.isEnded.store(true, ordering: .releasing)
            }
        }
        repeat {
            runAll()
        } while !outcome.isKnown && waitForOtherThreads(upTo: .seconds(60))
        try #require(outcome.isKnown, "no task can go on")
        return outcome.error.withLock { $0 }
    }

    private final class Outcome: Sendable {
        let error = Mutex<(any Error)?>(nil)
        let isEnded = Atomic(false)
        var isKnown: Bool { isEnded.load(ordering: .acquiring) }
    }
}
