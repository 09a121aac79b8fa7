import Foundation
import InterceptorsTestSupport
import InterceptorsTransport
import Synchronization
import Testing

private func chunks(_ texts: String...) -> AsyncStream<Data> {
    AsyncStream { continuation in
        for text in texts { continuation.yield(Data(text.utf8)) }
        continuation.finish()
    }
}

private func read(_ body: HTTPBody) async throws -> [String] {
    var read: [String] = []
    for try await chunk in body { read.append(String(decoding: chunk, as: UTF8.self)) }
    return read
}

private func expectFailure<Value>(
    _ code: HTTPErrorCode,
    location: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Value
) async {
    let error = await #expect(throws: TransportError.self, sourceLocation: location) { _ = try await body() }
    #expect(error?.code == code, sourceLocation: location)
}

@Suite(.againstHanging) struct HTTPBodyTests {
    @Test func noTwoStreamsHaveOneIdentity() {
        // A released stream's address may be that of the next one.
        let identities = (0..<100).map { _ in HTTPBody.restartable { AsyncStream<Data> { $0.finish() } }.identity }
        for (index, identity) in identities.enumerated() {
            #expect(!identities[..<index].contains(identity))
        }
    }

    @Test func anEmptyBodyHasNothingToRead() async throws {
        for body in [HTTPBody.empty, HTTPBody(Data()), ""] {
            #expect(body.isEmpty)
            #expect(body.length == 0)
            #expect(try await read(body) == [])
            #expect(try await body.collect(upTo: 0) == Data())
        }
    }

    @Test func bytesAreReadAgainAndAgain() async throws {
        let body: HTTPBody = "héllo"
        #expect(body.length == 6)
        #expect(body.isRestartable && body.isReadable && !body.isEmpty)
        #expect(body.file == nil)
        for _ in 0..<3 { #expect(try await read(body) == ["héllo"]) }
        body.discard()
        #expect(body.isReadable)
        #expect(try await body.collect(upTo: 6) == body.data)
    }

    @Test(arguments: [0, 1, 5, 6, 7, Int.max])
    func collectAcceptsTheLimitAndNotAByteMore(limit: Int) async throws {
        let bodies = [
            HTTPBody("123456"), .oneShot(chunks("123", "456")), .oneShot(chunks("123", "456"), length: 6),
            .restartable { chunks("1", "23456") },
        ]
        for body in bodies {
            if limit >= 6 {
                #expect(try await body.collect(upTo: limit) == Data("123456".utf8))
            } else {
                await expectFailure(.bodyTooLarge) { try await body.collect(upTo: limit) }
            }
        }
    }

    @Test func aNegativeLimitAcceptsNothing() async {
        await expectFailure(.bodyTooLarge) { try await HTTPBody("1").collect(upTo: -1) }
        await expectFailure(.bodyTooLarge) { try await HTTPBody.oneShot(chunks("1")).collect(upTo: -1) }
    }

    @Test func aKnownLengthBeyondTheLimitFailsBeforeAnythingIsRead() async throws {
        let makes = Atomic(0)
        let body = HTTPBody.restartable(length: 7) {
            makes.add(1, ordering: .relaxed)
            return chunks("1234567")
        }
        await expectFailure(.bodyTooLarge) { try await body.collect(upTo: 6) }
        #expect(makes.load(ordering: .relaxed) == 0)
    }

    @Test func anAbsurdAnnouncedLengthReservesNoMemory() async {
        let body = HTTPBody.oneShot(chunks("a"), length: .max)
        await expectFailure(.bodyLengthMismatch) { try await body.collect(upTo: .max) }
    }

    @Test func aNegativeLengthIsUnknown() async throws {
        let body = HTTPBody.oneShot(chunks("a"), length: -1)
        #expect(body.length == nil)
        #expect(try await read(body) == ["a"])
    }

    @Test func aBodyThatIsTooLargeIsDiscarded() async throws {
        for length in [nil, 2] as [Int64?] {
            let discards = Atomic(0)
            let body = HTTPBody.oneShot(chunks("1", "2"), length: length) { discards.add(1, ordering: .relaxed) }
            await expectFailure(.bodyTooLarge) { try await body.collect(upTo: 1) }
            #expect(discards.load(ordering: .relaxed) == 1)
            #expect(!body.isReadable)
        }
    }

    @Test func aRestartableStreamIsMadeAnewForEachReading() async throws {
        let body = HTTPBody.restartable { chunks("a", "b") }
        #expect(body.isRestartable)
        #expect(body.length == nil)
        #expect(!body.isEmpty)
        for _ in 0..<3 { #expect(try await read(body) == ["a", "b"]) }
        body.discard()
        #expect(try await read(body) == ["a", "b"])
    }

    @Test func aRestartableStreamThatCannotBeMadeFailsTheReading() async throws {
        let body = HTTPBody.restartable { () throws -> AsyncStream<Data> in throw Broken() }
        await #expect(throws: Broken.self) { try await read(body) }
    }

    @Test func aOneShotStreamIsReadOnce() async throws {
        let body = HTTPBody.oneShot(chunks("a", "b"))
        #expect(!body.isRestartable)
        #expect(body.isReadable)
        #expect(try await read(body) == ["a", "b"])
        #expect(!body.isReadable)
        await expectFailure(.bodyNotReplayable) { try await read(body) }
        await expectFailure(.bodyNotReplayable) { try await body.collect(upTo: 10) }
    }

    @Test func theErrorOfASecondReadingDoesNotSayThatTheRequestCouldNotBeSent() async throws {
        let body = HTTPBody.oneShot(chunks("a"))
        #expect(try await read(body) == ["a"])
        let error = await #expect(throws: TransportError.self) { try await read(body) }
        #expect(error?.localizedDescription == "The content can't be read or sent a second time.")
    }

    @Test func ofManyReadersOfAOneShotExactlyOneWins() async throws {
        let body = HTTPBody.oneShot(chunks("all", "of", "it"))
        let results = await withTaskGroup(of: Data?.self) { group in
            for _ in 0..<500 { group.addTask { try? await body.collect(upTo: 100) } }
            return await group.reduce(into: [Data?]()) { $0.append($1) }
        }
        #expect(results.compactMap(\.self) == [Data("allofit".utf8)])
    }

    @Test func copiesShareTheOneReading() async throws {
        let body = HTTPBody.oneShot(chunks("a"))
        let copy = body
        _ = try await read(copy)
        #expect(!body.isReadable)
    }

    @Test func emptyChunksAreSkipped() async throws {
        #expect(try await read(.oneShot(chunks("", "a", "", "", "b", ""))) == ["a", "b"])
        #expect(try await read(.oneShot(chunks(""), length: 0)) == [])
    }

    @Test(
        arguments: [(5, ["ab", "c"]), (2, ["ab", "c"]), (4, ["abcde"]), (1, []), (0, ["a"])] as [(Int64, [String])]
    )
    func aStreamIsHeldToItsAnnouncedLength(length: Int64, texts: [String]) async throws {
        let body = HTTPBody.restartable(length: length) {
            AsyncStream { continuation in
                for text in texts { continuation.yield(Data(text.utf8)) }
                continuation.finish()
            }
        }
        await expectFailure(.bodyLengthMismatch) { try await read(body) }
        var count: Int64 = 0
        do {
            for try await chunk in body { count += Int64(chunk.count) }
        } catch {}
        #expect(count <= length)
        #expect(try await read(.restartable(length: 3) { chunks("ab", "c") }) == ["ab", "c"])
    }

    @Test func anErrorEndsTheReading() async throws {
        let stream = AsyncThrowingStream<Data, any Error> { continuation in
            continuation.yield(Data("a".utf8))
            continuation.finish(throwing: Broken())
        }
        var reading = HTTPBody.oneShot(stream).makeAsyncIterator()
        #expect(try await reading.next() == Data("a".utf8))
        await #expect(throws: Broken.self) { try await reading.next() }
        #expect(try await reading.next() == nil)
    }

    @Test func afterTheEndThereIsNothing() async throws {
        for body in [HTTPBody("a"), .oneShot(chunks("a")), .empty] {
            var reading = body.makeAsyncIterator()
            while try await reading.next() != nil {}
            #expect(try await reading.next() == nil)
            #expect(try await reading.next() == nil)
        }
    }

    @Test func discardEndsTheSourceOnceAndForbidsReading() async throws {
        let discards = Atomic(0)
        let body = HTTPBody.oneShot(chunks("a")) { discards.add(1, ordering: .relaxed) }
        await withTaskGroup { group in
            for _ in 0..<100 { group.addTask { body.discard() } }
        }
        #expect(discards.load(ordering: .relaxed) == 1)
        #expect(!body.isReadable)
        await expectFailure(.bodyNotReplayable) { try await read(body) }
    }

    @Test func discardInTheMiddleOfAReadingEndsTheSource() async throws {
        let (stream, continuation) = AsyncStream<Data>.makeStream()
        let body = HTTPBody.oneShot(stream) { continuation.finish() }
        continuation.yield(Data("a".utf8))
        var reading = body.makeAsyncIterator()
        #expect(try await reading.next() == Data("a".utf8))
        body.discard()
        #expect(try await reading.next() == nil)
    }

    @Test func aDescriptionNeverShowsTheContent() throws {
        #expect(HTTPBody("hush").description == "4 bytes")
        #expect(String(reflecting: HTTPBody("hush")) == "4 bytes")
        #expect(HTTPBody.oneShot(chunks("hush")).description == "one-shot stream, unknown length")
        #expect(HTTPBody.restartable(length: 4) { chunks("hush") }.description == "stream, 4 bytes")
    }
}

@Suite(.againstHanging) struct HTTPBodyCancellationTests {
    @Test func aStreamThatEndsBecauseItsTaskWasCancelledIsNotComplete() async throws {
        let (stream, continuation) = AsyncStream<Data>.makeStream()
        let (started, starts) = AsyncStream<Void>.makeStream()
        let body = HTTPBody.oneShot(stream)
        continuation.yield(Data("part".utf8))
        let task = Task {
            for try await _ in body { starts.yield() }
        }
        for await _ in started { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func collectingInACancelledTaskGivesNoPartOfIt() async throws {
        let discards = Atomic(0)
        let (stream, continuation) = AsyncStream<Data>.makeStream()
        continuation.yield(Data("part".utf8))
        let body = HTTPBody.oneShot(stream) { discards.add(1, ordering: .relaxed) }
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await body.collect(upTo: 100)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(discards.load(ordering: .relaxed) == 1)
    }

    @Test func cancellationIsNotReportedAsAWrongLength() async throws {
        let (stream, _) = AsyncStream<Data>.makeStream()
        let body = HTTPBody.oneShot(stream, length: 100)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await body.collect(upTo: 100)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func endlessEmptyChunksEndWithTheTask() async throws {
        let body = HTTPBody.oneShot(AsyncStream<Data> { Data() })
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await body.collect(upTo: 100)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func aFileIsNotReadInACancelledTask() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(Data(count: 10))
        let body = try HTTPBody(file: file)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await body.collect(upTo: 100)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}

@Suite(.againstHanging) struct HTTPBodyFileTests {
    @Test func aFileIsReadInChunksAgainAndAgain() async throws {
        let content = Data((0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let folder = try TemporaryFolder()
        let file = try folder.write(content)
        let body = try HTTPBody(file: file)
        #expect(body.length == 1 << 20)
        #expect(body.isRestartable && body.isReadable)
        #expect(body.file == file)
        #expect(body.data == nil)
        for _ in 0..<2 {
            var collected = Data()
            var count = 0
            for try await chunk in body {
                collected += chunk
                count += 1
                #expect(chunk.count <= 64 << 10)
            }
            #expect(collected == content)
            #expect(count >= 16)
        }
        #expect(try await body.collect(upTo: 1 << 20) == content)
        await expectFailure(.bodyTooLarge) { try await body.collect(upTo: 1 << 20 - 1) }
    }

    @Test func anEmptyFileIsAnEmptyBody() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(Data())
        let body = try HTTPBody(file: file)
        #expect(body.isEmpty)
        #expect(try await body.collect(upTo: 0) == Data())
    }

    @Test func manyReadersReadOneFile() async throws {
        let content = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
        let folder = try TemporaryFolder()
        let file = try folder.write(content)
        let body = try HTTPBody(file: file)
        let results = try await withThrowingTaskGroup(of: Data.self) { group in
            for _ in 0..<20 { group.addTask { try await body.collect(upTo: 200_000) } }
            return try await group.reduce(into: [Data]()) { $0.append($1) }
        }
        #expect(results.allSatisfy { $0 == content })
    }

    @Test func whatIsNoRegularFileIsRefusedAtOnce() throws {
        let folder = try TemporaryFolder()
        for url in [folder.file("missing"), folder.url, URL(string: "https://a.example/f?token=hush")] {
            let error = #expect(throws: TransportError.self) { try HTTPBody(file: #require(url)) }
            #expect(error?.code == .unreadableFile)
            #expect(error?.description.contains("hush") == false)
        }
    }

    @Test(arguments: [nil, 6, 100] as [Int64?])
    func whoComesLateTakesNothingFromTheReader(length: Int64?) async throws {
        let discards = Mutex(0)
        let body = HTTPBody.oneShot(chunks("abc", "def"), length: length) { discards.withLock { $0 += 1 } }
        var reading = body.makeAsyncIterator()
        #expect(try await reading.next() == Data("abc".utf8))
        await expectFailure(.bodyNotReplayable) { try await body.collect(upTo: 10) }
        #expect(discards.withLock { $0 } == 0)
        #expect(try await reading.next() == Data("def".utf8))
    }

    @Test func aLinkIsReadAsWhatItLeadsTo() async throws {
        let folder = try TemporaryFolder()
        let (file, link) = (try folder.write(Data("abc".utf8)), folder.file("link"))
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        #expect(try await HTTPBody(file: link).collect(upTo: 3) == Data("abc".utf8))
    }

    @Test(arguments: [0, 9, 11, 200_000])
    func aFileThatShrankOrGrewFailsTheReading(size: Int) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(Data(count: 10))
        let body = try HTTPBody(file: file)
        try Data(count: size).write(to: file)
        await expectFailure(.bodyLengthMismatch) { try await read(body) }
    }

    @Test func aFileThatGrewBetweenTwoBodiesHasItsNewLength() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(Data(count: 10))
        #expect(try HTTPBody(file: file).length == 10)
        try Data(count: 20).write(to: file)
        #expect(try HTTPBody(file: file).length == 20)
    }

    @Test func aFileThatWasRemovedFailsTheReading() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(Data(count: 10))
        let body = try HTTPBody(file: file)
        try FileManager.default.removeItem(at: file)
        await expectFailure(.unreadableFile) { try await read(body) }
    }
}
