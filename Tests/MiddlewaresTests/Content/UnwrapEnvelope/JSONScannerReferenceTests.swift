import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares

/// Compares the scanner, which reads nested values 64 bytes at once, with a scanner that reads each byte. The texts are random, or have
/// a special character at each index of a block. All random values come from seeds, so a failure can be repeated.
@Suite(.againstHanging) struct JSONScannerReferenceTests {
    private static let paths = ["a", "b", "a.b", "b.a", "a.b.c", "c.é", "\""]

    /// Expects that both scanners find the same ranges, or fail in the same way. Returns whether they succeeded.
    private func expectAgreement(on bytes: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) -> Bool {
        let reference = Result { () throws(ReferenceJSONScanner.Failure) in
            try ReferenceJSONScanner.find(Self.paths.map(\.namesOfMembers), in: bytes)
        }
        // A separate buffer, so that a memory checker notices a read beyond the end.
        let result = Result { () throws(JSONScanner.Failure) in
            try JSONScanner.find(Self.paths.map(JSONScanner.path), in: Data(bytes)) { Array($0) }
        }
        var places: [Range<Int>?]?
        let isSame: Bool
        switch (result, reference) {
        case (.success(let found), .success(let expected)):
            places = found
            isSame = found == expected
        case (.failure(let failure), .failure(let expected)):
            isSame = (failure.kind == .malformed) == expected.isOfAnObject && 0...bytes.count ~= failure.offset
        default: isSame = false
        }
        #expect(
            isSame,
            "\(result), not \(reference), in \(String(decoding: bytes, as: UTF8.self))",
            sourceLocation: sourceLocation
        )
        return places != nil
    }

    @Test(arguments: 0..<16)
    func randomTextsAndMutationsOfThem(seed: UInt64) {
        var generator = SeededGenerator(seed: 5000 + seed)
        var successes = 0
        for _ in 0..<40 {
            let text = Array(RandomJSON.object(depth: 5, using: &generator).utf8)
            for mutations in 0..<12 {
                var bytes = Array(repeating: UInt8(ascii: " "), count: Int.random(in: 0..<70, using: &generator)) + text
                for _ in 0..<mutations / 3 { Self.mutate(&bytes, using: &generator) }
                if expectAgreement(on: bytes) { successes += 1 }
            }
        }
        #expect(successes > 120 && successes < 480)
    }

    private static func mutate(_ bytes: inout [UInt8], using generator: inout SeededGenerator) {
        guard !bytes.isEmpty else { return }
        let index = Int.random(in: 0..<bytes.count, using: &generator)
        let end = min(bytes.count, index + Int.random(in: 1..<80, using: &generator))
        switch Int.random(in: 0..<7, using: &generator) {
        case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 1: bytes[index] = generator.oneOf(Array(#"{}[]"\,: 1ay_Y"#.utf8) + [0x7F, 0xDB])
        case 2: bytes.insert(generator.oneOf(Array(#"{}[]"\, "#.utf8)), at: index)
        case 3: bytes.remove(at: index)
        case 4: bytes.insert(contentsOf: bytes[index..<end], at: Int.random(in: 0..<bytes.count, using: &generator))
        case 5: bytes.removeSubrange(index..<end)
        default: bytes.removeSubrange(index...)
        }
    }

    @Test func runsOfBackslashesAtEveryPlaceOfABlock() {
        for padding in 0..<66 {
            let filling = String(repeating: "x", count: padding)
            for count in [0, 1, 2, 3, 4, 31, 62, 63, 64, 65, 66, 67] {
                let run = filling + String(repeating: "\\", count: count)
                for text in ["\"\(run)\"", "\"\(run)\"]\"", "\"\(run)\"\\"] {
                    _ = expectAgreement(on: Array("{\"a\":[\(text)],\"b\":1}".utf8))
                }
                _ = expectAgreement(on: Array("{\"a\":\"\(run)\",\"b\":1}".utf8))
                _ = expectAgreement(on: Array("{\"\(run)\":1,\"b\":{}}".utf8))
            }
        }
    }

    @Test func everythingThatMattersAtEveryPlaceOfABlock() {
        let tokens = [
            "{", "}", "[", "]", "\"", "\\", "\"\"", "\"\\\"\"", "\"]\"", "\"}\\\\\"", "{}", "[]", "{]", "[}", "[{}]",
            "y", "Y", "_",
            "\u{7F}", "\"y\"", "{\"\":[]}", "\"é\"", "]}", "]\\", "],\"b\":[",
        ]
        for token in tokens {
            for place in 0..<140 {
                let padding = String(repeating: " ", count: place)
                _ = expectAgreement(on: Array("{\"a\":[\(padding)\(token)],\"b\":1}".utf8))
                let rest = String(repeating: " ", count: 140 - place)
                _ = expectAgreement(on: Array("{\"a\":{\"b\":[\(padding)\(token)\(rest)]},\"b\":1}".utf8))
            }
        }
    }

    @Test func aTextThatEndsAtEveryPlaceOfABlock() {
        let value = #"{"b":["\\\"]","# + String(repeating: #"{"x":["\\",[]]},"#, count: 12) + #"""]}"#
        for padding in 0..<64 {
            let text = Array("{\"a\":\(String(repeating: " ", count: padding))\(value),\"b\":\"\\\\\"}".utf8)
            #expect(expectAgreement(on: text))
            for end in text.indices { _ = expectAgreement(on: Array(text[..<end])) }
        }
    }
}
