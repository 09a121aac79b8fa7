import Foundation
import InterceptorsTestSupport
import InterceptorsTransport
import Testing

@Suite(.againstHanging) struct HTTPBodySeekingTests {
    private static let text = "0123456789"

    private static func stream(from offset: Int64) -> AsyncStream<Data> {
        AsyncStream { continuation in
            for character in text.dropFirst(Int(offset)) { continuation.yield(Data("\(character)")) }
            continuation.finish()
        }
    }

    /// A body of each kind that is seekable, with the same content.
    private static func bodies(in folder: TemporaryFolder) throws -> [HTTPBody] {
        let file = folder.file("digits")
        try Data(text).write(to: file)
        return [HTTPBody(text), try HTTPBody(file: file), .seekable(length: 10) { stream(from: $0) }]
    }

    private func text(_ body: HTTPBody?) async throws -> String {
        String(decoding: try await #require(body).collect(upTo: 100), as: UTF8.self)
    }

    @Test func restFromEachOffsetIsTheSameForEveryKind() async throws {
        let folder = try TemporaryFolder()
        for body in try Self.bodies(in: folder) {
            #expect(body.isSeekable && body.isRestartable)
            for offset in 0...10 {
                let rest = try #require(body.suffix(from: Int64(offset)))
                #expect(rest.length == Int64(10 - offset))
                #expect(rest.isSeekable && rest.isRestartable)
                for _ in 0..<2 { #expect(try await text(rest) == String(Self.text.dropFirst(offset))) }
                // An offset into the rest counts from its start.
                if offset < 10 {
                    #expect(try await text(rest.suffix(from: 1)) == String(Self.text.dropFirst(offset + 1)))
                }
            }
        }
    }

    @Test func offsetOutsideOfTheContentGivesNothing() throws {
        let folder = try TemporaryFolder()
        for body in try Self.bodies(in: folder) {
            #expect(body.suffix(from: -1) == nil)
            #expect(body.suffix(from: 11) == nil)
            #expect(body.suffix(from: .max) == nil)
        }
    }

    @Test func bodyThatCanOnlyBeReadFromItsStartIsNotSeekable() {
        let bodies: [HTTPBody] = [
            .restartable(length: 10) { Self.stream(from: 0) }, .oneShot(Self.stream(from: 0), length: 10),
            HTTPBody(Self.text).map { $0 }, .seekable(length: 10) { Self.stream(from: $0) }.wrapped(length: 10) { $0 },
        ]
        for body in bodies {
            #expect(!body.isSeekable)
            #expect(body.suffix(from: 0) == nil)
            #expect(body.suffix(from: 1) == nil)
        }
    }

    @Test func streamThatDoesNotReachTheLengthFails() async throws {
        let short = HTTPBody.seekable(length: 11) { Self.stream(from: $0) }
        for offset in [Int64(0), 5] {
            let error = await #expect(throws: TransportError.self) { try await text(short.suffix(from: offset)) }
            #expect(error?.code == .bodyLengthMismatch)
        }
        let negative = HTTPBody.seekable(length: -1) { Self.stream(from: $0) }
        let error = await #expect(throws: TransportError.self) { try await text(negative) }
        #expect(error?.code == .bodyLengthMismatch)
    }

    @Test func errorOfTheClosureIsThatOfTheReading() async throws {
        struct Gone: Error {}
        let body = HTTPBody.seekable(length: 1) { _ -> AsyncStream<Data> in throw Gone() }
        await #expect(throws: Gone.self) { try await text(body) }
    }

    @Test func closureRunsForEachReadingAndNotBefore() async throws {
        let offsets = Notes<Int64>()
        let body = HTTPBody.seekable(length: 10) { offset in
            offsets.add(offset)
            return Self.stream(from: offset)
        }
        let rest = body.suffix(from: 4)
        #expect(offsets.all.isEmpty)
        _ = try await text(body)
        _ = try await text(rest)
        _ = try await text(rest?.suffix(from: 2))
        #expect(offsets.all == [0, 4, 6])
    }

    @Test func fileThatShrankFailsFromAnOffsetToo() async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("digits")
        try Data(Self.text).write(to: file)
        let rest = try #require(try HTTPBody(file: file).suffix(from: 6))
        #expect(rest.file == nil, "A transport that sends the whole file would send too much.")
        try Data("01234567").write(to: file)
        let error = await #expect(throws: TransportError.self) { try await text(rest) }
        #expect(error?.code == .bodyLengthMismatch)
    }
}
