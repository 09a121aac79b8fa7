#if os(Linux)

/// Decodes content that libcurl delivers, and may deliver again.
///
/// libcurl can't take back a part of a piece. If the receiver of the decoded bytes is full, libcurl keeps the whole piece and
/// delivers it again later. The next call then first passes on the decoded bytes that weren't accepted, and skips the input
/// bytes that were decoded already.
final class PausableDecoder {
    private static let pieceSize = 64 * 1024

    private let decoder: ContentDecoder
    private let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 16)
    /// The number of decoded bytes in `piece` that the receiver has not accepted.
    private var waiting = 0
    /// The number of bytes, at the start of the next delivery, that were decoded already.
    private var skipped = 0

    init(_ codings: [ContentCoding]) { decoder = ContentDecoder(codings) }

    deinit { piece.deallocate() }

    enum Receipt: Equatable { case accepted, paused, refused }

    /// Decodes bytes and passes the result to a receiver.
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

    /// Throws if the content has ended before its coding was complete.
    func finish() throws { try decoder.finish() }
}
#endif
