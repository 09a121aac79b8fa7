import Foundation
import Interceptors
import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares

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
        let response = CachedResponse(status: 200, headers: ["A": "1", "B": "2"], responseTime: 3)
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
        #expect(read.variants.map(\.response) == (try record().variants.map(\.response)))
        #expect(read.key == (try diskKey("a")) && read.variants.map(\.id) == [1, 2, 3])
        #expect(read.variants.map(\.isInFile) == [false, true, false])
        #expect(try read.variants[0].body() == [1, 2, 3] && read.variants[2].body() == [4])
    }

    // Even if an invented record has a correct checksum, no read goes beyond its end.
    @Test func aRecordThatWasMadeUpIsRefusedOrHarmless() throws {
        var generator = SeededGenerator(seed: 12)
        let whole = try record().encoded()
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let place = Int.random(in: 8..<bytes.count, using: &generator)
                bytes[place] = generator.oneOf([0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &generator)])
            }
            if Bool.random(using: &generator) {
                bytes.removeLast(Int.random(in: 0..<bytes.count - 32, using: &generator))
            }
            bytes.withUnsafeMutableBytes { bytes in
                bytes.storeBytes(of: UInt64(bytes.count).littleEndian, toByteOffset: 16, as: UInt64.self)
                let head = min(bytes.loadUnaligned(fromByteOffset: 24, as: UInt64.self), UInt64(bytes.count))
                let sum = Checksum.of(UnsafeRawBufferPointer(rebasing: bytes[16..<max(16, Int(head))]))
                bytes.storeBytes(of: sum.littleEndian, toByteOffset: 8, as: UInt64.self)
            }
            guard let record = try? DiskRecord(bytes) else { continue }
            #expect(record.variants.count <= CacheKey.variantLimit)
            for variant in record.variants {
                #expect(variant.response.headers.count <= bytes.count)
                _ = try? variant.body()
            }
        }
    }

    @Test func bodiesOfARecordAreReadAndCheckedEachByItself() async throws {
        let directory = TemporaryDirectory()
        let store = DiskCacheStore(at: directory.url)
        let key = try diskKey("a")
        let bodies = (0..<8).map { Data(repeating: UInt8($0), count: 60_000) }
        for (number, body) in bodies.enumerated() { try await store.put(body, key, selecting: ["N": "\(number)"]) }
        var entries = try await store.entries(for: key)
        for (entry, body) in zip(entries, bodies) {
            #expect(try await entry.body().collect(upTo: 1 << 20) == body)
            #expect(try await entry.body(59_990..<59_995).collect(upTo: 10) == body[59_990..<59_995])
        }
        #expect(entries.count == 8 && directory.files().count == 1)
        let file = directory.cache.appending(path: try #require(directory.files().first))
        var bytes = try Data(contentsOf: file)
        bytes[bytes.count - 60_000 - 1] ^= 1
        try bytes.write(to: file)
        entries = try await store.entries(for: key)
        await #expect(throws: CacheStoreError.self) { try await entries[6].body() }
        for number in [0, 5, 7] { #expect(try await entries[number].body().collect(upTo: 1 << 20) == bodies[number]) }
        // Changing another variant doesn't repair the damaged one.
        try await store.remove([entries[0].id], of: key)
        await #expect(throws: CacheStoreError.self) { try await store.entries(for: key)[5].body() }
        try await store.remove([entries[6].id], of: key)
        for entry in try await store.entries(for: key) { _ = try await entry.body().collect(upTo: 1 << 20) }
    }

    @Test func namesOfKeysThatDifferDiffer() throws {
        let names = try ["a", "b", "a?", "a?b", "A"].flatMap { name in
            try ["", "p", "p:"].map { DiskName(try diskKey(name, partition: $0)).path }
        }
        #expect(Set(names).count == names.count)
        #expect(names.allSatisfy { $0.utf8.count == 35 && $0.allSatisfy { $0.isHexDigit || $0 == "/" } })
    }
}
