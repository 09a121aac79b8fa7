#if os(Linux)

/// Undoes the codings of one response's content, in pieces of bounded size, however much a piece of it decodes to.
final class ContentDecoder {
    private static let bufferSize = 16 * 1024

    /// A coding, and what the one before it has made for it and is not yet taken.
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

    // The one that was applied last comes first: it gets the bytes of the wire.
    private let stages: [Stage]

    /// - Parameter codings: in the order in which they were applied; at least one.
    init(_ codings: [ContentCoding]) { stages = codings.reversed().map(Stage.init) }

    /// Decodes the next bytes.
    ///
    /// - Parameters:
    ///   - input: what is left of the bytes from the wire; what was taken is gone from it.
    ///   - output: where the decoded bytes go.
    /// - Returns: how many they are; 0 when all input is taken, and nothing is left to make of it.
    func read(
        from input: inout UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    )
        throws -> Int
    {
        try read(stages.count - 1, from: &input, into: output)
    }

    /// Throws if the content was not whole, now that nothing more comes.
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
            // Input that is offered and not taken, though nothing comes of it, never would be.
            guard isExhausted else { throw ContentDecodingError.malformed(stage.coding) }
            guard index > 0 else { return 0 }
            let count = try read(index - 1, from: &wire, into: stage.buffer)
            guard count > 0 else { return 0 }
            stage.rest = UnsafeRawBufferPointer(rebasing: stage.buffer.prefix(count))
        }
    }
}
#endif
