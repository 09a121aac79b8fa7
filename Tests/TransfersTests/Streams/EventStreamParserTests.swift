import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTransport
import Testing

@testable import InterceptorsTransfers

/// The rules of the HTML Living Standard §9.2.6. The inputs come from the web platform tests (eventsource/format-*).
@Suite(.againstHanging) struct EventStreamParserTests {
    private func events(_ text: String, limit: Int = 1 << 20) throws -> [ServerSentEvent] {
        try parsed(Data(text.utf8), limit: limit).events
    }

    @Test(arguments: [
        // A byte order mark is dropped at the start only.
        ("\u{FEFF}data:1\n\n\u{FEFF}data:2\n\ndata:3\n\n", ["1", "3"]),
        ("\u{FEFF}\u{FEFF}data:1\n\ndata:2\n\ndata:3\n\n", ["2", "3"]),
        ("data:1\r:\0\n:\r\ndata:2\n:long\rdata:3\n:data:fail\r:long\ndata:4\n\n", ["1\n2\n3\n4"]),
        // The end of the stream drops an incomplete event.
        ("retry:1000\ndata:test1\n\nid:test\ndata:test2", ["test1"]),
        ("data:test1\n\ndata:test2\n", ["test1"]),
        ("data:\n\ndata\ndata\n\ndata:test\n\n", ["", "\n", "test"]),
        (
            "data:\0\ndata:  2\rData:1\ndata\0:2\ndata:1\r\0data:4\nda-ta:3\rdata_5\ndata:3\rdata:\r\n data:32\ndata:4\n\n",
            ["\0\n 2\n1\n3\n\n4"]
        ),
        ("data:test\n data\ndata\nfoobar:xxx\njustsometext\n:thisisacommentyay\ndata:test\n\n", ["test\n\ntest"]),
        ("data:\ttest\rdata: \ndata:test\n\n", ["\ttest\n\ntest"]),
        ("data:test\r\ndata\ndata:test\r\n\r", ["test\n\ntest"]),
        ("data:\0\n\n\n\n", ["\0"]),
        ("data:ok…\n\n", ["ok…"]),
        ("data: a: b\n\n", ["a: b"]),
        ("\n\n\r\r\n:\n\n", []),
        ("", []),
    ])
    func dataFollowsTheStandard(stream: String, data: [String]) throws {
        #expect(try events(stream).map(\.data) == data)
    }

    @Test(arguments: [
        ("event:test\ndata:x\n\ndata:x\n\n", ["test", "message"]),
        ("event: \ndata:data\n\n", ["message"]),
        ("event:a\nevent:b\ndata:x\n\n", ["b"]),
        // An event without data is dropped with its type.
        ("event:a\n\ndata:x\n\n", ["message"]),
    ])
    func typesFollowTheStandard(stream: String, types: [String]) throws {
        #expect(try events(stream).map(\.type) == types)
    }

    @Test(arguments: [
        ("id:1\ndata:x\n\ndata:x\n\n", ["1", "1"]),
        ("id:1\ndata:x\n\nid\ndata:x\n\n", ["1", ""]),
        ("id:1\ndata:x\n\nid:\0\ndata:x\n\nid:2\0\ndata:x\n\n", ["1", "1", "1"]),
        ("id:…\ndata:x\n\n", ["…"]),
        ("id:1\n\ndata:x\n\n", ["1"]),
        ("data:x\n\n", [""]),
    ])
    func idsFollowTheStandard(stream: String, ids: [String]) throws {
        #expect(try events(stream).map(\.id) == ids)
    }

    @Test(arguments: [
        ("retry:3000\ndata:x\n\n", Duration.seconds(3)), ("retry:3000\nretry:1000x\ndata:x\n\n", .seconds(3)),
        ("retry\ndata:x\n\n", nil), ("retry:-1\ndata:x\n\n", nil), ("retry:+1\ndata:x\n\n", nil),
        ("retry: 1.5\ndata:x\n\n", nil), ("retry:٣\ndata:x\n\n", nil), ("retry:0\ndata:x\n\n", .zero),
        ("retry:7\n\ndata:x\n\n", .milliseconds(7)),
        ("retry:99999999999999999999999\ndata:x\n\n", .seconds(1_000_000_000)),
    ])
    func retryIsANumberOfMilliseconds(stream: String, retry: Duration?) throws {
        #expect(try events(stream).map(\.retry) == [retry])
    }

    @Test func anIDWithoutDataCounts() throws {
        var parser = EventStreamParser(limit: 100, lastEventID: "1")
        parser.append(Data("id:2\n".utf8))
        #expect(try parser.next() == nil)
        #expect(parser.lastEventID == "1")
        parser.append(Data("\n".utf8))
        #expect(try parser.next() == nil)
        #expect(parser.lastEventID == "2")
    }

    @Test func anEventEndsWithItsCarriageReturn() throws {
        var parser = EventStreamParser(limit: 100)
        parser.append(Data("data:x\r\n\r".utf8))
        #expect(try parser.next()?.data == "x")
        parser.append(Data("\ndata:y\n\n".utf8))
        #expect(try parser.next() == ServerSentEvent(data: "y"))
    }

    @Test func invalidUTF8BecomesAReplacementCharacter() throws {
        let stream = Data("data:a".utf8) + [0xFF, 0xC3] + Data("\ndata:b\n\n".utf8)
        #expect(try parsed(stream, limit: 100).events.map(\.data) == ["a\u{FFFD}\u{FFFD}\nb"])
    }

    @Test func linesAndEventsHaveALimit() throws {
        #expect(try events("data:12345\n\n", limit: 10).count == 1)
        #expect(try events("data:1234\ndata:12345\n\n", limit: 10).count == 1)
        for tooLong in ["data:123456\n\n", "data:123456", ":2345678901", "data:12345\ndata:12345\n\n"] {
            let error = #expect(throws: TransportError.self) { try events(tooLong, limit: 10) }
            #expect(error?.code == .bodyTooLarge)
        }
    }

    @Test func theLimitHoldsWhateverTheChunks() throws {
        for size in 1...12 {
            #expect(throws: TransportError.self) {
                try parsed(Data("data:123456\n\n".utf8), limit: 10, chunkSize: size)
            }
            #expect(try parsed(Data("data:12345\n\n".utf8), limit: 10, chunkSize: size).events.count == 1)
        }
    }
}

/// Compares the parser, fed random chunks, with a naive parser of the whole text.
@Suite(.againstHanging) struct EventStreamChunksTests {
    private static let pieces =
        [
            "data", "data:", "data: ", "event", "event:a", "id", "id:1", "id: \0", "retry:5", "retry:x", ":", " ", "x",
            "é", "…", "😀",
            "\u{FEFF}", "\n", "\n", "\n", "\n\n", "\r", "\r\r", "\r\n", "\r\n\r\n", "\0",
        ].map { Array($0.utf8) } + [[0xFF], [0xC3], [0xE2, 0x80]]

    @Test func chunksMakeNoDifference() throws {
        var random = SeededGenerator(seed: 9)
        var count = 0
        for _ in 0..<2000 {
            let stream = (0..<Int.random(in: 0...40, using: &random)).flatMap { _ in random.oneOf(Self.pieces) }
            let expected = naiveEvents(stream)
            count += expected.count
            var parser = EventStreamParser(limit: 1000)
            var (rest, found) = (stream[...], [ServerSentEvent]())
            while !rest.isEmpty {
                let size = Int.random(in: 0...9, using: &random)
                parser.append(Data(rest.prefix(size)))
                rest = rest.dropFirst(size)
                while let event = try parser.next() { found.append(event) }
            }
            #expect(found == expected, "\(stream)")
        }
        #expect(count > 500)
    }

    @Test(arguments: [1, 7, 1 << 20])
    func theWorkIsLinear(chunkSize: Int) throws {
        for line in ["data:1234567890\n", "data:1234567890\r", "\r", "\n"] {
            let stream = Data(String(repeating: line, count: 20_000).utf8)
            let searched = try parsed(stream, limit: 1 << 20, chunkSize: chunkSize).parser.searched
            // Each byte is searched at most once for each kind of line break, and each search looks at one byte at least.
            #expect(searched <= 4 * stream.count)
        }
        let long = Data(String(repeating: "x", count: 200_000).utf8)
        #expect(try parsed(long, limit: 1 << 20, chunkSize: chunkSize).parser.searched <= 4 * long.count)
    }

    @Test func memoryIsBounded() throws {
        let chunk = Data((String(repeating: "data:1234567890\n", count: 50) + "\n").utf8)
        var parser = EventStreamParser(limit: 1 << 20)
        var most = 0
        for _ in 0..<2000 {
            parser.append(chunk)
            while try parser.next() != nil { most = max(most, parser.heldCount) }
            most = max(most, parser.heldCount)
        }
        #expect(most < 16 << 10)
    }

    private func naiveEvents(_ bytes: [UInt8]) -> [ServerSentEvent] {
        var scalars = Array(String(decoding: bytes, as: UTF8.self).unicodeScalars)
        if scalars.first == "\u{FEFF}" { scalars.removeFirst() }
        var (lines, line, index) = ([String](), String.UnicodeScalarView(), 0)
        while index < scalars.count {
            if scalars[index] == "\r" || scalars[index] == "\n" {
                if scalars[index] == "\r", index + 1 < scalars.count, scalars[index + 1] == "\n" { index += 1 }
                lines.append(String(line))
                line = String.UnicodeScalarView()
            } else {
                line.append(scalars[index])
            }
            index += 1
        }
        var (events, type, data, id) = ([ServerSentEvent](), "", [String](), "")
        var retry: Duration?
        for line in lines {
            let field = line.unicodeScalars.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            var value = field.count > 1 ? String(field[1]).unicodeScalars : String.UnicodeScalarView()
            if value.first == " " { value.removeFirst() }
            switch String(field.first ?? "".unicodeScalars[...]) {
            case "" where line.isEmpty:
                if !data.isEmpty {
                    let text = data.joined(separator: "\n")
                    events.append(
                        ServerSentEvent(type: type.isEmpty ? "message" : type, data: text, id: id, retry: retry)
                    )
                }
                (type, data) = ("", [])
            case "data": data.append(String(value))
            case "event": type = String(value)
            case "id": if !value.contains("\0") { id = String(value) }
            case "retry": if let time = Int(String(value)), time >= 0 { retry = .milliseconds(time) }
            default: break
            }
        }
        return events
    }
}

/// The events of a stream, in chunks of one size.
private func parsed(
    _ stream: Data,
    limit: Int,
    chunkSize: Int = .max
) throws -> (events: [ServerSentEvent], parser: EventStreamParser) {
    var parser = EventStreamParser(limit: limit)
    var (rest, events) = (stream, [ServerSentEvent]())
    while !rest.isEmpty {
        parser.append(rest.prefix(chunkSize))
        rest = rest.dropFirst(min(chunkSize, rest.count))
        while let event = try parser.next() { events.append(event) }
    }
    return (events, parser)
}
