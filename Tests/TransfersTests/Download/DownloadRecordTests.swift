import Foundation
import InterceptorsCore
import InterceptorsSyntax
import Testing

@testable import InterceptorsTransfers

@Suite(.againstHanging) struct DownloadRecordTests {
    private let record = DownloadRecord(
        source: "source",
        representation: Representation(validator: "\"a \\ b\"", total: 5)
    )

    @Test func theLaterOfTwoSlotsCounts() throws {
        var later = record
        later.number = 1
        later.safe = 3
        let bytes = try #require(record.slot()) + (try #require(later.slot()))
        #expect(bytes.count == 2 * DownloadRecord.slotSize)
        #expect(DownloadRecord(file: bytes) == later)
        #expect(record.offset == 0 && later.offset == Int64(DownloadRecord.slotSize))
    }

    @Test func aHalfWrittenSlotLeavesTheOther() throws {
        let first = try #require(record.slot())
        var later = record
        later.number = 1
        let second = try #require(later.slot())
        let end = try #require(second.firstIndex(of: UInt8(ascii: "\n")))
        for count in 0..<end {
            let torn = Array(second[..<count]) + Array(repeating: 0, count: second.count - count)
            #expect(DownloadRecord(file: first + torn) == record, "\(count)")
        }
        #expect(DownloadRecord(file: []) == nil)
    }

    @Test func aChangedByteMakesASlotInvalid() throws {
        let slot = try #require(record.slot())
        let end = try #require(slot.firstIndex(of: UInt8(ascii: "\n")))
        for index in 0..<end {
            var bytes = slot
            bytes[index] ^= 1
            #expect(DownloadRecord(file: bytes) == nil, "\(index)")
        }
    }

    @Test func aNegativeLengthIsInvalid() throws {
        var record = record
        record.safe = -1
        #expect(DownloadRecord(file: try #require(record.slot())) == nil)
    }

    @Test func theLongestRecordFits() throws {
        let tag = "\"" + String(repeating: "\\", count: 398) + "\""
        var record = DownloadRecord(
            source: DownloadRecord.source(of: try #require(URL(string: "https://a.example/"))),
            representation: Representation(validator: tag, total: .max)
        )
        record.number = .max - 1
        record.safe = .max
        #expect(record.slot() != nil)
    }

    @Test func aRecordOfRangesIsInvalid() throws {
        let slot = try #require(record.slot())
        let json = String(decoding: slot, as: UTF8.self).drop { $0 != " " }.dropFirst().prefix { $0 != "\n" }
        let old = json.replacing(#""safe":0"#, with: #""safe":[0,3]"#)
        #expect(old != json)
        let text = "\(PortableSHA256.digest(Array(old.utf8)).prefix(8).hexadecimal) \(old)\n"
        #expect(DownloadRecord(file: Array(text.utf8)) == nil)
    }

    @Test(arguments: [Int.max, -1]) func aRecordThatHasNoSuccessorIsInvalid(number: Int) throws {
        var record = record
        record.number = number
        #expect(DownloadRecord(file: try #require(record.slot())) == nil)
    }

    @Test func theSourceIsTheURLWithoutItsFragmentAndNotReadable() throws {
        let url = try #require(URL(string: "https://a.example/film?token=hush#part"))
        let bare = try #require(URL(string: "https://a.example/film?token=hush"))
        let other = try #require(URL(string: "https://a.example/film?token=other"))
        #expect(DownloadRecord.source(of: url) == DownloadRecord.source(of: bare))
        #expect(DownloadRecord.source(of: url) != DownloadRecord.source(of: other))
        #expect(!DownloadRecord.source(of: url).contains("hush"))
    }
}
