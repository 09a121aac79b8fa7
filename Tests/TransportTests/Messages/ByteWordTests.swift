import Testing

@testable import InterceptorsTransport

/// Several bytes are tested together. No byte may hide another, at any index.
@Suite(.againstHanging) struct ByteWordTests {
    /// Texts in which one byte differs from all others, with every byte at every index.
    private func forEachText(_ check: ([UInt8], _ byte: UInt8) -> Void) {
        for count in 1...26 {
            for place in 0..<count {
                for other in [0x61, 0x80, 0xFF] as [UInt8] {
                    for byte in UInt8.min...UInt8.max {
                        var bytes = [UInt8](repeating: other, count: count)
                        bytes[place] = byte
                        check(bytes, byte)
                    }
                }
            }
        }
    }

    @Test func onlyPrintableASCIIIsPlain() {
        var wrong: [[UInt8]] = []
        forEachText { bytes, _ in
            let isPlain = bytes.withUnsafeBufferPointer { PrintableText.isPlain($0) }
            if isPlain != bytes.allSatisfy({ 0x20..<0x7F ~= $0 }) { wrong.append(bytes) }
        }
        #expect(wrong.isEmpty)
        #expect(PrintableText.isPlain(UnsafeBufferPointer(start: nil, count: 0)))
    }

    @Test func whatMayRevealASecretIsNeverOverlooked() {
        var wrong: [[UInt8]] = []
        forEachText { bytes, byte in
            let mayReveal = bytes.withUnsafeBufferPointer { Redaction.mayReveal($0) }
            if mayReveal != (byte < 0x26 || ":@=\\".utf8.contains(byte)) { wrong.append(bytes) }
        }
        #expect(wrong.isEmpty)
    }

    @Test func whatMayHideASecretInAURLIsNeverOverlooked() {
        var wrong: [[UInt8]] = []
        forEachText { bytes, byte in
            let mayHide = bytes.withUnsafeBufferPointer { Redaction.mayHideSecret($0) }
            if mayHide != "#?@;%".utf8.contains(byte) { wrong.append(bytes) }
        }
        #expect(wrong.isEmpty)
    }
}
