import Foundation
import Middlewares
import TestSupport
import Testing

@testable import Middlewares

@Suite(.againstHanging) struct DiskRecordTests {
    @Test(
        arguments: [
            ("", 0, 0xEF46_DB37_51D8_E999), ("a", 0, 0xD24E_C4F1_A98C_6E5B), ("abc", 0, 0x44BC_2CF5_AD77_0999),
            ("Nobody inspects the spammish repetition", 0, 0xFBCE_A83C_8A37_8BF1),
        ] as [(String, UInt64, UInt64)]
    )
    func theChecksumIsXXH64(text: String, seed: UInt64, expected: UInt64) {
        #expect(Array(text.utf8).withUnsafeBytes { Checksum.of($0, seed: seed) } == expected)
    }

    @Test func everyBitAndTheSeedCount() {
        for count in [1, 7, 8, 31, 32, 33, 100] {
            let bytes = [UInt8](repeating: 0x5A, count: count)
            let sum = bytes.withUnsafeBytes { Checksum.of($0) }
            for bit in 0..<(8 * count) {
                var other = bytes
                other[bit / 8] ^= 1 << UInt8(bit % 8)
                #expect(other.withUnsafeBytes { Checksum.of($0) } != sum)
            }
            #expect(bytes.withUnsafeBytes { Checksum.of($0, seed: 1) } != sum)
        }
    }

    private func record() throws -> DiskRecord {
        let response = CachedResponse(status: 200, headerFields: ["A": "1", "B": "2"], responseTime: 3)
        return DiskRecord(
            key: try diskKey("a"),
            variants: [
                DiskRecord.Variant(id: 1, response: response, length: 3, content: .inline([1, 2, 3])),
                DiskRecord.Variant(id: 2, response: response, length: 99_999, content: .file),
                DiskRecord.Variant(id: 3, response: response, length: 1, content: .inline([4])),
            ]
        )
    }

    @Test func whatIsWrittenIsReadBack() throws {
        let read = try DiskRecord(try record().encoded())
        #expect(read.key == (try diskKey("a")) && read.variants.map(\.id) == [1, 2, 3])
        #expect(read.variants.map(\.isInFile) == [false, true, false])
        guard case .inline(let first) = read.variants[0].content, case .inline(let last) = read.variants[2].content
        else {
            Issue.record("short bodies are in the record")
            return
        }
        #expect(Array(first) == [1, 2, 3] && Array(last) == [4])
    }

    // Even with a checksum that fits, nothing that was made up is read beyond its end.
    @Test func aRecordThatWasMadeUpIsRefusedOrHarmless() throws {
        var generator = SeededGenerator(seed: 12)
        let whole = try record().encoded()
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let place = Int.random(in: 24..<bytes.count, using: &generator)
                bytes[place] = generator.oneOf([0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &generator)])
            }
            if Bool.random(using: &generator) {
                bytes.removeLast(Int.random(in: 0..<bytes.count - 24, using: &generator))
            }
            bytes.withUnsafeMutableBytes { bytes in
                bytes.storeBytes(of: UInt64(bytes.count).littleEndian, toByteOffset: 16, as: UInt64.self)
                let sum = Checksum.of(UnsafeRawBufferPointer(rebasing: bytes[16...]))
                bytes.storeBytes(of: sum.littleEndian, toByteOffset: 8, as: UInt64.self)
            }
            if let record = try? DiskRecord(bytes) { #expect(record.variants.count <= bytes.count) }
        }
    }

    @Test func namesOfKeysThatDifferDiffer() throws {
        let names = try ["a", "b", "a?", "a?b", "A"].flatMap { name in
            try ["", "p", "p:"].map { DiskName(try diskKey(name, partition: $0)).path }
        }
        #expect(Set(names).count == names.count)
        #expect(names.allSatisfy { $0.utf8.count == 35 && $0.allSatisfy { $0.isHexDigit || $0 == "/" } })
    }
}
