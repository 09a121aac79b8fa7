import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares

/// All random values come from seeds, so a failure can be repeated.
@Suite(.againstHanging) struct JSONScannerFuzzTests {
    private static let paths: [String] = ["a", "b", "a.b", "b.a", "a.b.c", "c.é", "\"", "a.\\"]

    /// The value that `JSONSerialization` finds at a path. Of members with equal names it also takes the last.
    private func expected(_ path: String, in root: Any) -> NSObject? {
        var value = root
        for name in path.split(separator: ".") {
            guard let object = value as? [String: Any], let member = object[String(name)] else { return nil }
            value = member
        }
        return value as? NSObject
    }

    private func decoded(_ data: Data) throws -> NSObject? {
        try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed) as? NSObject
    }

    @Test(arguments: 0..<8)
    func slicesAreWhatJSONSerializationFinds(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var foundValues = 0
        for _ in 0..<150 {
            let data = Data(RandomJSON.object(depth: 6, using: &generator).utf8)
            let root = try JSONSerialization.jsonObject(with: data)
            let places = try JSONScanner.find(Self.paths.map(JSONScanner.path), in: data) { Array($0) }
            for (path, place) in zip(Self.paths, places) {
                let found = try place.map { try #require(try decoded(data.bytes(at: $0))) }
                foundValues += found == nil ? 0 : 1
                #expect(found == expected(path, in: root), "\(path) in \(String(decoding: data, as: UTF8.self))")
            }
        }
        #expect(foundValues > 150)
    }

    @Test(arguments: 0..<4)
    func skippingAgreesWithAByteByByteReadingOfAnything(seed: UInt64) throws {
        var generator = SeededGenerator(seed: 1000 + seed)
        let alphabet = Array(#"{}[]{}[]""\\ ay_Y,:1"#.utf8) + [0x7F, 0xC3, 0xDB, 0xDD, 0xFB, 0xFD, 0xA2, 0xDC, 0]
        var ends = 0
        for _ in 0..<3000 {
            var soup = [generator.oneOf([UInt8(ascii: "{"), UInt8(ascii: "[")])]
            // Nearly balanced, so that many texts have an end.
            var open = soup
            for _ in 0..<Int.random(in: 0..<200, using: &generator) {
                var byte = generator.oneOf(alphabet)
                if byte == UInt8(ascii: "\\"), Int.random(in: 0..<3, using: &generator) > 0 { byte = 0x20 }
                if byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]"), let last = open.popLast() { byte = last + 2 }
                if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") { open.append(byte) }
                soup.append(byte)
            }
            soup += open.reversed().map { $0 + 2 }
            let reference = ReferenceJSONScanner.end(of: soup, from: 0)
            let result = soup.withUnsafeBytes { bytes in
                Result { () throws(JSONScanner.Failure) in try JSONScanner.endOfNested(bytes, from: 0) }
            }
            switch result {
            case .success(let end):
                ends += 1
                #expect(end == reference, "\(String(decoding: soup, as: UTF8.self))")
            case .failure:
                // The scanner may find a stray backslash after the end first.
                let isStray = reference.map { soup[$0...].contains(UInt8(ascii: "\\")) } ?? true
                #expect(isStray, "\(String(decoding: soup, as: UTF8.self))")
            }
        }
        #expect(ends > 300 && ends < 2700)
    }

    @Test(arguments: 0..<4)
    func aTextCutAtAnyByteIsNeverTakenForWhole(seed: UInt64) throws {
        var generator = SeededGenerator(seed: 2000 + seed)
        for _ in 0..<6 {
            let data = Data(RandomJSON.object(depth: 4, using: &generator).utf8)
            for count in 0..<data.count {
                // A separate buffer, so that a memory checker notices a read beyond the end.
                let cut = Data(data.prefix(count))
                #expect(throws: JSONScanner.Failure.self) {
                    try JSONScanner.find([JSONScanner.path("a")], in: cut) { $0[0] }
                }
            }
        }
    }

    @Test(arguments: 0..<8)
    func flippedBytesNeverCrashAndNeverGiveAnotherValueThanADecoderSees(seed: UInt64) throws {
        var generator = SeededGenerator(seed: 3000 + seed)
        var comparisons = 0
        for _ in 0..<25 {
            let data = Data(RandomJSON.object(depth: 4, using: &generator).utf8)
            for _ in 0..<60 {
                let flipped = Self.flipping(data, using: &generator)
                let places = try? JSONScanner.find(Self.paths.map(JSONScanner.path), in: flipped) { Array($0) }
                guard let root = try? JSONSerialization.jsonObject(with: flipped) else { continue }
                comparisons += 1
                let text = String(decoding: flipped, as: UTF8.self)
                guard let places else {
                    // A comma after the last member violates RFC 8259, but JSONSerialization accepts it.
                    #expect(try text.contains(Regex(",[ \n\r\t]*[}\\]]")), "\(text)")
                    continue
                }
                for (path, place) in zip(Self.paths, places) {
                    let found = try place.map { try #require(try decoded(flipped.bytes(at: $0))) }
                    #expect(found == expected(path, in: root), "\(path) in \(text)")
                }
            }
        }
        #expect(comparisons > 100)
    }

    private static func flipping(_ data: Data, using generator: inout SeededGenerator) -> Data {
        var flipped = data
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            let index = Int.random(in: 0..<data.count, using: &generator)
            flipped[index] =
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: flipped[index] ^ 1 << UInt8.random(in: 0..<8, using: &generator)
                case 1: generator.oneOf(Array(#"{}[]"\,: 1a"#.utf8))
                default: flipped[Int.random(in: 0..<data.count, using: &generator)]
                }
        }
        return flipped
    }

    @Test(arguments: 0..<4)
    func noiseNeverCrashes(seed: UInt64) {
        var generator = SeededGenerator(seed: 4000 + seed)
        for count in 0..<400 {
            var noise = Data((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
            _ = try? JSONScanner.find(Self.paths.map(JSONScanner.path), in: noise) { Array($0) }
            noise.insert(contentsOf: Data(#"{"a":["#.utf8), at: 0)
            _ = try? JSONScanner.find(Self.paths.map(JSONScanner.path), in: noise) { Array($0) }
        }
    }
}
