#if os(Linux)

/// The decoding of content that a loop hands over, and may have to hand over again.
///
/// libcurl takes no part of a piece: when the receiver of the decoded bytes is full, libcurl keeps the whole piece, and brings it
/// again. The bytes of it that were decoded already are then skipped, and what was decoded of them and not accepted goes first.
final class ContentDecoding {
    private static let pieceSize = 64 * 1024

    private let decoder: ContentDecoder
    private let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 16)
    /// How much of `piece` waits for its receiver.
    private var waiting = 0
    /// How many of the next bytes were decoded already.
    private var skipped = 0

    init(_ codings: [ContentCoding]) { decoder = ContentDecoder(codings) }

    deinit { piece.deallocate() }

    enum Receipt: Equatable { case accepted, paused, refused }

    /// Decodes bytes, and gives what they make to a receiver.
    func receive(
        _ bytes: UnsafeRawBufferPointer,
        _ give: (UnsafeRawBufferPointer) -> Receipt
    ) throws -> Receipt {
        var input = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(skipped))
        while true {
            if waiting > 0 {
                switch give(UnsafeRawBufferPointer(rebasing: piece.prefix(waiting))) {
                case .accepted: waiting = 0
                case .refused: return .refused
                case .paused:
                    skipped = max(skipped, bytes.count - input.count)
                    return .paused
                }
            }
            waiting = try decoder.read(from: &input, into: piece)
            guard waiting == 0 else { continue }
            skipped = max(0, skipped - bytes.count)
            return .accepted
        }
    }

    /// Throws if the content was not whole, now that nothing more comes.
    func finish() throws { try decoder.finish() }
}
#endif
