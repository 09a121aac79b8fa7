import Foundation
import Interceptors
import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares

/// The arithmetic of parts: compared with a set of single bytes.
@Suite(.againstHanging) struct StoredPartsTests {
    private static let total: Int64 = 24

    private func entry(_ id: UInt64, _ range: Range<Int64>, tag: String? = "\"a\"") -> CacheEntry {
        let fields: HTTPFields = tag.map { [.eTag: $0] } ?? [:]
        let response = CachedResponse(status: 200, headerFields: fields, responseTime: Int64(id))
        let body = Data(range.map { UInt8($0) })
        return CacheEntry(id: id, response: response.part(range, of: Self.total), body: body)
    }

    private func ranges(_ generator: inout some RandomNumberGenerator) -> [Range<Int64>] {
        (0..<Int.random(in: 1...8, using: &generator)).map { _ in
            let start = Int64.random(in: 0..<Self.total, using: &generator)
            return start..<Int64.random(in: (start + 1)...Self.total, using: &generator)
        }
    }

    @Test(arguments: 0..<200) func piecesAndGapsAreThoseOfTheBytes(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let ranges = ranges(&generator)
        let bytes = Set(ranges.joined())
        let combined = StoredParts.combining(ranges.enumerated().map { entry(UInt64($0), $1) })
        #expect(combined.count == 1)
        let parts = try #require(combined[0].parts)
        let missing = (0..<Self.total).filter { !bytes.contains($0) }
        #expect(parts.missing == missing.first.map { $0..<((missing.last ?? 0) + 1) })
        #expect(combined[0].isWhole == missing.isEmpty)
        for start in 0..<Self.total {
            for end in (start + 1)...Self.total {
                let isThere = (start..<end).allSatisfy(bytes.contains)
                #expect(combined[0].has(start..<end) == isThere)
                guard isThere else { continue }
                let read = try await combined[0].body(start..<end).collect(upTo: 100)
                #expect(read == Data((start..<end).map { UInt8($0) }))
            }
        }
    }

    @Test func partsOfTwoVersionsAreNeverPutTogether() {
        let entries = [
            entry(1, 0..<4), entry(2, 4..<8, tag: "\"b\""), entry(3, 8..<12), entry(4, 12..<16, tag: nil),
            entry(5, 16..<20, tag: nil), entry(6, 0..<2, tag: "W/\"a\""), entry(7, 2..<4, tag: "W/\"a\""),
        ]
        let combined = StoredParts.combining(entries)
        #expect(combined.map { [$0].ids.sorted() }.sorted { $0[0] < $1[0] } == [[1, 3], [2], [4], [5], [6], [7]])
    }

    @Test func anEntryWhoseLengthIsNotThatOfItsRangeIsIgnored() {
        let response = CachedResponse(status: 200, headerFields: [.eTag: "\"a\""], responseTime: 0)
        let entry = CacheEntry(id: 1, response: response.part(0..<4, of: 10), body: Data(count: 3))
        #expect(StoredParts.combining([entry]).isEmpty)
    }

    @Test func aResponseOfThePartsHasTheNewestFields() {
        let fields: [HTTPFields] = [
            [.eTag: "\"a\"", "X": "1"], [.eTag: "\"a\"", "X": "3"], [.eTag: "\"a\"", "X": "2"],
        ]
        let entries = [(fields[0], 1), (fields[1], 3), (fields[2], 2)].map { fields, time in
            let response = CachedResponse(status: 200, headerFields: fields, responseTime: Int64(time))
            let range = Int64(time)..<Int64(time + 1)
            return CacheEntry(id: UInt64(time), response: response.part(range, of: 10), body: Data(count: 1))
        }
        let response = StoredParts.combining(entries).first?.response
        #expect(response?.status == 200)
        #expect(response?.headerFields["X"] == "3")
        #expect(response?.headerFields[.contentLength] == "10")
        #expect(response?.headerFields.contains(.contentRange) == false)
        #expect(response?.selectingFields.isEmpty == true)
    }
}
