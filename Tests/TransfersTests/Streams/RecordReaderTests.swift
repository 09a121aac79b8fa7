import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTransport
import Testing

@testable import InterceptorsTransfers

@Suite(.againstHanging) struct RecordReaderTests {
    private func records(
        _ text: String,
        _ format: RecordReader.Format,
        limit: Int = 1 << 20,
        chunkSize: Int = .max
    ) throws -> [Record] {
        var reader = RecordReader(format, limit: limit)
        var (rest, records) = (Data(text.utf8), [Record]())
        while !rest.isEmpty {
            reader.append(rest.prefix(chunkSize))
            rest = rest.dropFirst(min(chunkSize, rest.count))
            while let record = try reader.next() { records.append(record) }
        }
        if let last = try reader.finish() { records.append(last) }
        return records
    }

    private func text(_ records: [Record]) -> [String] {
        records.map { "\($0.number) \(String(decoding: $0.bytes, as: UTF8.self))" }
    }

    @Test(arguments: [1, 2, 3, .max])
    func linesEndWithLineFeedsOrTheStream(chunkSize: Int) throws {
        let stream = "\u{FEFF}1\n\n  \r\n22\r\n\u{FEFF}\r3"
        #expect(text(try records(stream, .jsonLines, chunkSize: chunkSize)) == ["1 1", "4 22", "5 \u{FEFF}\r3"])
        #expect(
            text(try records(stream, .text, chunkSize: chunkSize)) == ["1 1", "2 ", "3   ", "4 22", "5 \u{FEFF}\r3"]
        )
        #expect(try records("", .text).isEmpty)
        #expect(text(try records("\n", .text)) == ["1 "])
    }

    @Test(arguments: [1, 2, 3, .max])
    func elementsOfASequenceFollowARecordSeparator(chunkSize: Int) throws {
        let stream = "\u{1E}{\"a\":\n1}\n\u{1E}\u{1E}\n\u{1E}2\n\u{1E}\"x\"\u{1E}[3]"
        let expected = ["1 {\"a\":\n1}", "2 2", "3 \"x\"", "4 [3]"]
        #expect(text(try records(stream, .jsonSequence, chunkSize: chunkSize)) == expected)
    }

    @Test(arguments: ["{\"a\":\n{\"]\":[\n]}}", "[[],\n\"}\\\"\\\\\"]", "\"[{\\\"\"", "-1.5e3", "true", "{}"])
    func anElementIsCompleteAtTheLineFeedAfterItsValue(json: String) throws {
        for chunkSize in [1, 2, .max] {
            var reader = RecordReader(.jsonSequence, limit: 100)
            var found: [Record] = []
            var rest = Data("\u{1E}\(json) \n".utf8)
            while !rest.isEmpty {
                // Nothing before the LF completes the element, and nothing after it is needed.
                #expect(found.isEmpty)
                reader.append(rest.prefix(chunkSize))
                rest = rest.dropFirst(min(chunkSize, rest.count))
                while let record = try reader.next() { found.append(record) }
            }
            #expect(text(found) == ["1 \(json)"])
            #expect(try reader.finish() == nil)
        }
    }

    @Test func aRecordSeparatorEndsAMalformedElement() throws {
        let stream = "\u{1E}{\"a\":\"b\n\u{1E}[[1]\n\u{1E}]]\n\u{1E}\"\\\u{1E}{}\n"
        let expected = ["1 {\"a\":\"b", "2 [[1]", "3 ]]", "4 \"\\", "5 {}"]
        #expect(text(try records(stream, .jsonSequence)) == expected)
    }

    @Test func textWithoutARecordSeparatorIsAnElementToo() throws {
        #expect(text(try records("1\n\u{1E}{}\n2\n\n3\n", .jsonSequence)) == ["1 1", "2 {}", "3 2", "4 3"])
    }

    @Test(arguments: [1, 5, .max])
    func elementsAreFoundInLinearTimeAndMemory(chunkSize: Int) throws {
        let stream = Data((String(repeating: "\u{1E}[{},\n[1]]\n\n\n", count: 5000) + "\u{1E}[").utf8)
        var splitter = LineSplitter(.element, limit: 20)
        var rest = stream
        while !rest.isEmpty {
            splitter.append(rest.prefix(chunkSize))
            rest = rest.dropFirst(min(chunkSize, rest.count))
            while try splitter.next({ $0.count }) != nil {}
        }
        #expect(splitter.searched == stream.count)
        #expect(splitter.heldCount < 100)
    }

    @Test(arguments: ["\u{1E}1\n\u{1E}12", "\u{1E}1\n\u{1E}tru", "\u{1E}1\n\u{1E}2\u{1E}3\n"])
    func aNumberOrLiteralThatMayBeCutOffIsAnError(stream: String) throws {
        let error = #expect(throws: TransportError.self) { try records(stream, .jsonSequence) }
        #expect(error?.code == .truncated)
        #expect(error?.message.contains("Element 2") == true)
    }

    @Test func aLineHasALimit() throws {
        #expect(try records("12345\n12345", .jsonLines, limit: 5).count == 2)
        for size in 1...8 {
            for stream in ["123456\n", "123456"] {
                let error = #expect(throws: TransportError.self) {
                    try records(stream, .jsonLines, limit: 5, chunkSize: size)
                }
                #expect(error?.code == .bodyTooLarge)
            }
        }
    }

    @Test func anElementOfASequenceHasALimit() throws {
        #expect(try records("\u{1E}[345]\n\u{1E}[345]\n", .jsonSequence, limit: 5).count == 2)
        for size in 1...9 {
            for element in ["[3456]", "{\"a\":1}", "\"12345\"", "123456", "[\n\n\n\n]"] {
                for stream in ["\u{1E}\(element)\n", "\u{1E}[1]\n\u{1E}\(element)", "\u{1E}\(element)\u{1E}1\n"] {
                    let error = #expect(throws: TransportError.self, "\(stream) in pieces of \(size)") {
                        try records(stream, .jsonSequence, limit: 5, chunkSize: size)
                    }
                    #expect(error?.code == .bodyTooLarge)
                }
            }
        }
    }

    @Test(arguments: [1, 2, 3, .max])
    func theLimitOfALineDoesNotCountItsEndOrAMark(chunkSize: Int) throws {
        for stream in ["12345\r\n", "12345\r", "\u{FEFF}12345\r\n"] {
            #expect(text(try records(stream, .text, limit: 5, chunkSize: chunkSize)) == ["1 12345"])
        }
        #expect(try records("\u{1E}[345]\n", .jsonSequence, limit: 5, chunkSize: chunkSize).count == 1)
        for stream in ["123456\r\n", "123456\r", "12345\r\r\n", "12345\r6", "\u{FEFF}123456", "1\n\u{FEFF}12345"] {
            #expect(throws: TransportError.self) { try records(stream, .text, limit: 5, chunkSize: chunkSize) }
        }
    }

    @Test func aBatchIsLimitedInBytesAndRecords() {
        var reader = RecordReader(.text, limit: 1 << 20)
        reader.append(Data(String(repeating: "\n", count: 3000).utf8))
        #expect((0..<4).map { _ in reader.nextBatch().records.count } == [1024, 1024, 952, 0])
        reader.append(Data(String(repeating: String(repeating: "x", count: 8191) + "\n", count: 5).utf8))
        #expect((0..<3).map { _ in reader.nextBatch().records.count } == [3, 2, 0])
    }

    @Test func chunksMakeNoDifferenceToASequence() throws {
        var random = SeededGenerator(seed: 4)
        let pieces = ["\u{1E}", "\u{1E}", "\n", "\n", "[", "]", "{\"a\":", "}", "\"", "\\", "1", "true", " ", "é"]
        var counts = Set<Int>()
        for _ in 0..<2000 {
            let stream = (0..<Int.random(in: 0...30, using: &random)).map { _ in random.oneOf(pieces) }.joined()
            let whole = Result { text(try records(stream, .jsonSequence, limit: 20)) }
            let size = Int.random(in: 1...7, using: &random)
            let split = Result { text(try records(stream, .jsonSequence, limit: 20, chunkSize: size)) }
            switch (whole, split) {
            case (.success(let whole), .success(let split)):
                #expect(whole == split, "\(stream.debugDescription) in pieces of \(size)")
                counts.insert(whole.count)
            case (.failure(let whole as TransportError), .failure(let split as TransportError)):
                #expect(whole.code == split.code, "\(stream.debugDescription) in pieces of \(size)")
            default: Issue.record("\(stream.debugDescription) in pieces of \(size): \(whole), but \(split)")
            }
        }
        #expect(counts.count > 5)
    }

    @Test func chunksMakeNoDifference() throws {
        var random = SeededGenerator(seed: 3)
        let pieces = ["1", "ab", "\r", "\n", "\n", "\r\n", " ", "é", "[]"]
        for _ in 0..<1000 {
            let stream = (0..<Int.random(in: 0...30, using: &random)).map { _ in random.oneOf(pieces) }.joined()
            let lines = stream.utf8.split(separator: 0x0A, omittingEmptySubsequences: false)
            let complete = lines.last?.isEmpty == true ? lines.dropLast() : lines[...]
            let expected = complete.map { $0.last == 0x0D ? $0.dropLast() : $0 }.map {
                String(decoding: $0, as: UTF8.self)
            }
            let size = Int.random(in: 1...7, using: &random)
            let found = try records(stream, .text, chunkSize: size)
            #expect(found.map { String(decoding: $0.bytes, as: UTF8.self) } == expected)
        }
    }
}
