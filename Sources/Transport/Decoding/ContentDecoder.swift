/// Decodes all codings of one response's content in pieces of bounded size, however much a piece decodes to.
final class ContentDecoder {
    private static let bufferSize = 16 * 1024

    /// A coding, with the bytes that the previous stage has produced for it and that it has not consumed.
    private final class Stage {
        let coding: ContentCoding
        let decoder: CodingDecoder
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bufferSize, alignment: 16)
        var rest: UnsafeRawBufferPointer

        init(_ coding: ContentCoding) {
            self.coding = coding
            decoder = CodingDecoder(coding)
            rest = UnsafeRawBufferPointer(rebasing: buffer.prefix(0))
        }

        deinit { buffer.deallocate() }
    }

    // The last coding applied is the first stage, which gets the bytes from the wire.
    private let stages: [Stage]

    /// - Parameter codings: the codings in the order they were applied; at least one.
    init(_ codings: [ContentCoding]) { stages = codings.reversed().map(Stage.init) }

    /// Decodes the next bytes.
    ///
    /// - Parameters:
    ///   - input: the remaining bytes from the wire; consumed bytes are removed.
    ///   - output: the memory for the decoded bytes.
    /// - Returns: the number of decoded bytes; 0 when all input is consumed and nothing is left to produce.
    func read(
        from input: inout UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    )
        throws -> Int
    {
        try read(stages.count - 1, from: &input, into: output)
    }

    /// Throws if the content has ended before its coding was complete.
    func finish() throws {
        for stage in stages where !stage.decoder.isWhole { throw ContentDecodingError.unfinished(stage.coding) }
    }

    private func read(
        _ index: Int,
        from wire: inout UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws -> Int {
        let stage = stages[index]
        while true {
            let step = try stage.decoder.step(index == 0 ? wire : stage.rest, into: output)
            if index == 0 {
                wire = UnsafeRawBufferPointer(rebasing: wire.dropFirst(step.taken))
            } else {
                stage.rest = UnsafeRawBufferPointer(rebasing: stage.rest.dropFirst(step.taken))
            }
            if step.made > 0 { return step.made }
            if step.taken > 0 { continue }
            let isExhausted = index == 0 ? wire.isEmpty : stage.rest.isEmpty
            // Input that a decoder neither consumes nor decodes would loop forever.
            guard isExhausted else { throw ContentDecodingError.malformed(stage.coding) }
            guard index > 0 else { return 0 }
            let count = try read(index - 1, from: &wire, into: stage.buffer)
            guard count > 0 else { return 0 }
            stage.rest = UnsafeRawBufferPointer(rebasing: stage.buffer.prefix(count))
        }
    }
}
