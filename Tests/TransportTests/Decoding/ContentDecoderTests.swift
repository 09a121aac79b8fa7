#if os(Linux)
import CInterceptorsZlib
import Foundation
import Testing

@testable import InterceptorsTransport

@Suite(.againstHanging) struct ContentDecoderTests {
    struct Sample: Sendable, CustomTestStringConvertible {
        let field: String
        let bytes: Data
        var testDescription: String { field }
    }

    static let samples = [
        Sample(field: "gzip", bytes: CodedSamples.gzip), Sample(field: "x-gzip", bytes: CodedSamples.gzip),
        Sample(field: "deflate", bytes: CodedSamples.zlib), Sample(field: "Deflate", bytes: CodedSamples.rawDeflate),
        Sample(field: "br", bytes: CodedSamples.brotli), Sample(field: "zstd", bytes: CodedSamples.zstd),
        Sample(field: "gzip, br", bytes: CodedSamples.gzipThenBrotli),
    ]

    /// Decodes the bytes, which are passed in pieces of `pieces` bytes.
    private func decode(_ field: String, _ bytes: Data, pieces: Int = .max, limit: Int = .max) throws -> Data {
        let decoding = PausableDecoder(try #require(ContentCoding.parse([field])))
        var result = Data()
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = Data(rest.prefix(pieces))
            rest = rest.dropFirst(piece.count)
            let receipt = try piece.withUnsafeBytes { bytes in
                try decoding.receive(bytes) { decoded in
                    guard result.count + decoded.count <= limit else { return .refused }
                    result.append(contentsOf: decoded)
                    return .accepted
                }
            }
            guard receipt == .accepted else { break }
        }
        if result.count < limit { try decoding.finish() }
        return result
    }

    @Test(arguments: samples, [1, 2, 7, .max])
    func contentIsDecodedWhateverThePiecesAre(sample: Sample, pieces: Int) throws {
        let decoded = try decode(sample.field, sample.bytes, pieces: pieces)
        #expect(String(decoding: decoded, as: UTF8.self) == CodedSamples.text)
    }

    @Test(arguments: samples)
    func contentThatEndsTooSoonIsAnErrorAtEachByte(sample: Sample) throws {
        for count in 1..<sample.bytes.count {
            let error = #expect(throws: ContentDecodingError.self, "\(count) bytes") {
                try decode(sample.field, sample.bytes.prefix(count))
            }
            if case .unfinished? = error { continue }
            Issue.record("\(sample.field) of \(count) bytes: \(String(describing: error))")
        }
    }

    @Test(arguments: samples.filter { !["Deflate", "br"].contains($0.field) })
    func checksumThatIsWrongIsAnError(sample: Sample) throws {
        var bytes = sample.bytes
        // In gzip, the length follows the checksum.
        bytes[bytes.count - (sample.field.hasSuffix("gzip") ? 8 : 1)] ^= 0x40
        #expect(throws: ContentDecodingError.self) { try decode(sample.field, bytes) }
    }

    @Test(arguments: samples) func emptyContentIsWhole(sample: Sample) throws {
        #expect(try decode(sample.field, Data()).isEmpty)
    }

    @Test(arguments: samples.filter { ["gzip", "zstd"].contains($0.field) }, [1, .max])
    func severalMembersAreOneContent(sample: Sample, pieces: Int) throws {
        let decoded = try decode(sample.field, sample.bytes + sample.bytes + sample.bytes, pieces: pieces)
        #expect(String(decoding: decoded, as: UTF8.self) == String(repeating: CodedSamples.text, count: 3))
        #expect(throws: ContentDecodingError.self) { try decode(sample.field, sample.bytes + sample.bytes.dropLast()) }
    }

    @Test(arguments: samples) func whatFollowsTheEndIsAnError(sample: Sample) {
        #expect(throws: ContentDecodingError.self) { try decode(sample.field, sample.bytes + Data("rest of it".utf8)) }
    }

    /// The first byte of raw content can equal zlib's first byte. The check in the second byte differs (RFC 1950 §2.2).
    @Test(arguments: [1, 2, .max]) func rawDeflateThatBeginsAsZlibDoesIsDecoded(pieces: Int) throws {
        // A stored block with padding bits that aren't zero, and an empty last block (RFC 1951 §3.2.4).
        for first: UInt8 in [0x08, 0x78, 0xF8] {
            let raw = Data([first, 5, 0, 0xFA, 0xFF] + Array("hello".utf8) + [1, 0, 0, 0xFF, 0xFF])
            #expect(try decode("deflate", raw, pieces: pieces) == Data("hello".utf8), "\(first)")
        }
    }

    @Test(arguments: ["gzip", "deflate", "br", "zstd"]) func contentInNoCodingIsAnError(field: String) {
        #expect(throws: ContentDecodingError.self) { try decode(field, Data("this is plain text".utf8)) }
    }

    @Test func receiverThatIsFullGetsNoByteTwiceAndMissesNone() throws {
        // A megabyte of zeros in a kilobyte, so that one piece decodes to many.
        let coded = try #require(GzipOfZeros.bytes(1 << 20))
        let decoding = PausableDecoder([.gzip])
        var (count, calls) = (0, 0)
        for piece in stride(from: 0, to: coded.count, by: 100).map({ coded[$0..<min($0 + 100, coded.count)] }) {
            var receipt = PausableDecoder.Receipt.paused
            while receipt == .paused {
                receipt = try Data(piece).withUnsafeBytes { bytes in
                    try decoding.receive(bytes) { decoded in
                        calls += 1
                        guard calls % 2 == 0 else { return .paused }
                        count += decoded.count
                        return .accepted
                    }
                }
            }
        }
        try decoding.finish()
        #expect(count == 1 << 20)
    }

    @Test func receiverThatRefusesEndsTheDecodingOfWhatExpands() throws {
        let coded = try #require(GzipOfZeros.bytes(64 << 20))
        let decoded = try decode("gzip", coded, limit: 1 << 16)
        #expect(decoded.count == 1 << 16)
    }

    @Test func codingThatIsUnknownIsNotUndone() throws {
        #expect(ContentCoding.parse(["compress"]) == nil)
        #expect(ContentCoding.parse(["gzip, aes128gcm"]) == nil)
        #expect(ContentCoding.parse(["gzip, gzip, gzip, gzip, gzip, gzip"]) == nil)
        #expect(ContentCoding.parse(["identity"]) == [])
        #expect(ContentCoding.parse(["x-gzip ,identity", "BR"]) == [.gzip, .brotli])
    }

    @Test func onlyCodingsWhoseLibraryIsThereAreAskedFor() {
        let asked = ContentCoding.acceptEncoding.components(separatedBy: ", ")
        #expect(asked.compactMap { ContentCoding.parse([$0])?.first } == ContentCoding.available)
    }

    @Test func eachOfSeveralCodingsMustBeWhole() throws {
        for count in 1..<CodedSamples.gzip.count {
            let coded = try gzip(CodedSamples.gzip.prefix(count))
            #expect(throws: ContentDecodingError.unfinished(.gzip), "\(count) bytes") {
                try decode("gzip, gzip", coded)
            }
        }
        #expect(try decode("gzip, gzip", gzip(CodedSamples.gzip)) == Data(CodedSamples.text.utf8))
    }

    private func gzip(_ bytes: Data) throws -> Data {
        try #require(czlib_load() == nil)
        let stream = try #require(czlib_new_gzip(6))
        defer { czlib_free(stream) }
        let input = [UInt8](bytes)
        var room = [UInt8](repeating: 0, count: 1 << 16)
        var (taken, made): (UInt32, UInt32) = (0, 0)
        let size = UInt32(input.count)
        let outcome = czlib_deflate(stream, input, size, &taken, &room, UInt32(room.count), &made, 1)
        #expect(outcome == CZLIB_END.rawValue)
        return Data(room.prefix(Int(made)))
    }
}

/// Many zeros, compressed with gzip in memory.
enum GzipOfZeros {
    static func bytes(_ count: Int) -> Data? {
        guard czlib_load() == nil, let stream = czlib_new_gzip(6) else { return nil }
        defer { czlib_free(stream) }
        let zeros = [UInt8](repeating: 0, count: 1 << 16)
        var room = [UInt8](repeating: 0, count: 1 << 20)
        var (result, left) = (Data(), count)
        while true {
            var (taken, made): (UInt32, UInt32) = (0, 0)
            let size = UInt32(min(left, zeros.count))
            let isLast: Int32 = left == Int(size) ? 1 : 0
            let outcome = czlib_deflate(stream, zeros, size, &taken, &room, UInt32(room.count), &made, isLast)
            result.append(contentsOf: room.prefix(Int(made)))
            left -= Int(taken)
            if outcome != CZLIB_MORE.rawValue { return outcome == CZLIB_END.rawValue ? result : nil }
        }
    }
}
#endif
