import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTransport
import Testing

@testable import InterceptorsTransfers

@Suite(.againstHanging) struct RecordReaderTests {
    private func records(
        _ text: String,
        skipsEmpty: Bool = false,
        limit: Int = 1 << 20,
        chunkSize: Int = .max
    ) throws -> [Record] {
        var reader = RecordReader(skipsEmpty: skipsEmpty, limit: limit)
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
        #expect(text(try records(stream, skipsEmpty: true, chunkSize: chunkSize)) == ["1 1", "4 22", "5 \u{FEFF}\r3"])
        #expect(text(try records(stream, chunkSize: chunkSize)) == ["1 1", "2 ", "3   ", "4 22", "5 \u{FEFF}\r3"])
        #expect(try records("").isEmpty)
        #expect(text(try records("\n")) == ["1 "])
    }

    @Test func aLineHasALimit() throws {
        #expect(try records("12345\n12345", skipsEmpty: true, limit: 5).count == 2)
        for size in 1...8 {
            for stream in ["123456\n", "123456"] {
                let error = #expect(throws: TransportError.self) {
                    try records(stream, skipsEmpty: true, limit: 5, chunkSize: size)
                }
                #expect(error?.code == .bodyTooLarge)
            }
        }
    }

    @Test(arguments: [1, 2, 3, .max])
    func theLimitOfALineDoesNotCountItsEndOrAMark(chunkSize: Int) throws {
        for stream in ["12345\r\n", "12345\r", "\u{FEFF}12345\r\n"] {
            #expect(text(try records(stream, limit: 5, chunkSize: chunkSize)) == ["1 12345"])
        }
        for stream in ["123456\r\n", "123456\r", "12345\r\r\n", "12345\r6", "\u{FEFF}123456", "1\n\u{FEFF}12345"] {
            #expect(throws: TransportError.self) { try records(stream, limit: 5, chunkSize: chunkSize) }
        }
    }

    @Test func aBatchIsLimitedInBytesAndRecords() {
        var reader = RecordReader(skipsEmpty: false, limit: 1 << 20)
        reader.append(Data(String(repeating: "\n", count: 3000).utf8))
        #expect((0..<4).map { _ in reader.nextBatch().records.count } == [1024, 1024, 952, 0])
        reader.append(Data(String(repeating: String(repeating: "x", count: 8191) + "\n", count: 5).utf8))
        #expect((0..<3).map { _ in reader.nextBatch().records.count } == [3, 2, 0])
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
            let found = try records(stream, chunkSize: size)
            #expect(found.map { String(decoding: $0.bytes, as: UTF8.self) } == expected)
        }
    }
}
