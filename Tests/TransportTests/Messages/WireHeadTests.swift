import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsTransport

@Suite(.againstHanging) struct WireHeadTests {
    private func parse(_ text: String) -> WireHead? { WireHead(parsing: Array(text.utf8)) }

    @Test func statusAndFieldsAreReadAsTheyAre() throws {
        let head = try #require(
            parse(
                "HTTP/1.1 404 Not here\r\nServer: x\r\nset-cookie: a=1\r\nX-Own:\t two words \r\nSet-Cookie: b\r\n\r\n"
            )
        )
        #expect(head.status.code == 404 && head.status.reasonPhrase == "Not here")
        #expect(head.fields.map(\.name.rawName) == ["Server", "set-cookie", "X-Own", "Set-Cookie"])
        #expect(head.fields.map(\.value) == ["x", "a=1", "two words", "b"])
        #expect(head.fields[values: .setCookie] == ["a=1", "b"])
        #expect(head.fields.allSatisfy { $0.isValid })
    }

    @Test(arguments: ["", "\r\n", "200 OK\r\n", "HTTP/1.1 20 OK\r\n", "HTTP/1.1 2000 OK\r\n", "HTTP/1.1 2x0 OK\r\n"])
    func whatHasNoStatusLineIsNoHead(text: String) {
        #expect(parse(text) == nil)
    }

    @Test func aLineThatBeginsWithSpaceContinuesTheOneBeforeIt() throws {
        let head = try #require(parse("HTTP/1.1 200\nA: 1\n  2\n\t3 \nno field\n B: x\nC: 4\n"))
        #expect(head.fields.map(\.name.rawName) == ["A", " B", "C"])
        #expect(head.fields.map(\.value) == ["1 2 3", "x", "4"])
        #expect(head.fields.map(\.isValid) == [true, false, true])
    }

    @Test func aFieldMayBeFoldedIntoAnyNumberOfLines() throws {
        let head = try #require(parse("HTTP/1.1 200\nA: 1\n" + String(repeating: " x\n", count: 80_000) + "B: 2\n"))
        #expect(head.fields.map(\.name.rawName) == ["A", "B"])
        #expect(head.fields[values: "A"] == ["1" + String(repeating: " x", count: 80_000)])
        #expect(head.fields[values: "B"] == ["2"])
    }

    @Test func aLineOfSpaceAloneContinuesAFieldWithNothing() throws {
        let head = try #require(parse("HTTP/1.1 200\nA:\n \n 1\n\t\n\n 2\n  \nB: 3\n \n"))
        #expect(head.fields.map(\.value) == ["1 2", "3"])
    }

    @Test(arguments: [
        ("caf\u{E9} in UTF-8", true), ("a\tb", true), ("a\u{0}b", false), ("a\rb", false), ("a\u{7F}b", false),
        ("the last of many bytes\u{1}", false), ("\u{1}the first of many bytes", false), ("~ !", true),
    ])
    func aValueWithAControlCharacterIsNotValid(value: String, isValid: Bool) throws {
        let field = try #require(parse("HTTP/1.1 200 OK\r\nA: \(value)\r\n\r\n")?.fields.first)
        #expect(field.value == value)
        #expect(field.isValid == isValid)
    }

    @Test func whatIsNotUTF8IsReadAsISO88591() throws {
        let head = try #require(WireHead(parsing: Array("HTTP/1.1 200 OK\r\nA: caf".utf8) + [0xE9, 0x0D, 0x0A]))
        #expect(head.fields.first?.value == "café")
    }

    @Test(
        arguments: [
            ([0xE9], [], true), ([0xC3, 0xA9], [], false), ([0x61], [0xE9], true), ([0xE9], [0x61], true),
            ([0x61], [0x61], false),
        ] as [([UInt8], [UInt8], Bool)]
    )
    func valueWithOctetsOutsideUTF8IsMarkedAsTranscoded(first: [UInt8], folded: [UInt8], isTranscoded: Bool) throws {
        let bytes = Array("HTTP/1.1 200 OK\r\nA: b".utf8) + first + [0x0D, 0x0A, 0x20] + folded + [0x0D, 0x0A]
        let field = try #require(WireHead(parsing: bytes)?.fields.first)
        #expect(field.isTranscoded == isTranscoded)
        #expect(field.isValid)
    }

    @Test func aKnownNameKeepsItsSpellingAndIsNotTakenForAnother() throws {
        let names = [
            "ETag", "etag", "Etag", "ETAG", "Date", "date", "dAte", "Data", "Vary", "vary", "Age", "age", "Via", "aGe",
            "Content-Type", "content-type", "Content-Typo", "Dontent-Type", "Content-Length", "Content-Langth",
            "Transfer-Encoding", "Server", "Serves", "server", "Xerver", "Last-Modified", "Last-ModifieX", "E", "Ag",
            "A-B",
        ]
        let head = try #require(parse("HTTP/1.1 200 OK\r\n" + names.map { "\($0): 1\r\n" }.joined() + "\r\n"))
        #expect(head.fields.map(\.name.rawName) == names)
        #expect(head.fields.map(\.name) == names.map { HTTPField.Name(unchecked: $0) })
        #expect(head.fields.allSatisfy { $0.isValid })
    }

    @Test(arguments: 1...50 as ClosedRange<UInt64>)
    func anyBytesAreReadAsBySimplerMeans(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let pieces: [[UInt8]] = [
            Array("ETag".utf8), Array("x".utf8), Array("Content-Length".utf8), [0x20], [0x09], [0x3A], [0x0D, 0x0A],
            [0x0A], [0x0D],
            [0xE9], Array("é".utf8), [0x00], [0x7F], Array("a longer text, of more than eight bytes".utf8),
        ]
        for _ in 0..<200 {
            var bytes = Array("HTTP/1.1 200 OK\r\n".utf8)
            for _ in 0..<Int.random(in: 0..<20, using: &generator) {
                bytes += pieces.randomElement(using: &generator) ?? []
            }
            let head = try #require(WireHead(parsing: bytes))
            #expect(head.fields == Self.fields(bytes), "\(bytes)")
        }
    }

    /// The same parsing, in as little code as possible.
    private static func fields(_ bytes: [UInt8]) -> HTTPFields {
        var lines: [HTTPField?] = []
        for var line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).dropFirst() {
            if line.last == 0x0D { line.removeLast() }
            guard let first = line.first else { continue }
            if first == 0x20 || first == 0x09, let field = lines.last ?? nil {
                let value = "\(field.value) \(text(line, trimmed: true))"
                lines[lines.count - 1] = HTTPField(unchecked: field.name, value)
            } else if let colon = line.firstIndex(of: 0x3A) {
                let name = HTTPField.Name(unchecked: text(line[..<colon], trimmed: false))
                lines.append(HTTPField(unchecked: name, text(line[(colon + 1)...], trimmed: true)))
            } else {
                lines.append(nil)
            }
        }
        return HTTPFields(lines.compactMap(\.self))
    }

    private static func text(_ bytes: ArraySlice<UInt8>, trimmed: Bool) -> String {
        let isSpace: (UInt8) -> Bool = { trimmed && ($0 == 0x20 || $0 == 0x09) }
        let rest = bytes.drop(while: isSpace)
        let kept = rest.prefix(rest.lastIndex { !isSpace($0) }.map { $0 - rest.startIndex + 1 } ?? 0)
        return String(validating: kept, as: UTF8.self)
            ?? String(String.UnicodeScalarView(kept.map { Unicode.Scalar($0) }))
    }
}
