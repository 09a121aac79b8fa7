import Foundation
import InterceptorsCore
import InterceptorsSyntax
import Testing

@testable import InterceptorsTransfers

@Suite(.againstHanging) struct DownloadRecordTests {
    private let record = DownloadRecord(
        source: "source",
        representation: Representation(validator: .entityTag("\"a \\ b\""), total: 5),
        announced: DownloadDigest(.sha256, Array(0..<32))
    )

    @Test func theLaterOfTwoSlotsCounts() throws {
        var later = record
        later.number = 1
        later.safe = ByteSet(upTo: 3)
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

    @Test func theRangesOfARecordSurviveASlot() throws {
        var record = record
        for range in [5..<7, 9..<12, 0..<2] as [Range<Int64>] { record.safe.insert(range) }
        let slot = try #require(record.slot())
        #expect(DownloadRecord(file: slot) == record)
        #expect(String(decoding: slot, as: UTF8.self).contains(#""safe":[0,2,5,7,9,12]"#))
    }

    @Test(arguments: ["[1]", "[3,2]", "[0,2,2,4]", "[-1,2]", "[2,2]", "7"])
    func aListThatIsNoRangesIsInvalid(text: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(ByteSet.self, from: Data(text.utf8)) }
    }

    @Test func theLongestRecordFits() throws {
        let tag = "\"" + String(repeating: "\\", count: 398) + "\""
        var record = DownloadRecord(
            source: DownloadRecord.source(of: try #require(URL(string: "https://a.example/"))),
            representation: Representation(validator: .entityTag(tag), total: .max),
            announced: DownloadDigest(.sha512, Array(repeating: 255, count: 64))
        )
        record.number = .max - 1
        for index in 0...Int64(DownloadRanges.holeLimit) {
            let start = Int64.max - 1_000 + 10 * index
            record.safe.insert(start..<start + 5)
        }
        #expect(record.slot() != nil)
    }

    @Test(arguments: [DownloadDigest(.sha256, Array(0..<32)), DownloadDigest(.sha512, Array(0..<64))])
    func anAnnouncedDigestIsReadBack(digest: DownloadDigest) throws {
        let record = DownloadRecord(source: "source", representation: record.representation, announced: digest)
        #expect(DownloadRecord(file: try #require(record.slot()))?.announcedDigest == digest)
    }

    @Test func aRecordOfOneLengthIsInvalid() throws {
        let slot = try #require(record.slot())
        let json = String(decoding: slot, as: UTF8.self).drop { $0 != " " }.dropFirst().prefix { $0 != "\n" }
        let old = json.replacing(#""safe":[]"#, with: #""length":0"#)
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
