internal import CInterceptorsZlib
internal import Foundation
internal import Synchronization

/// Compresses bytes into the gzip format (RFC 1952) with the system's zlib.
///
/// The header contains no time, so the same bytes give the same output, however they are split into chunks.
final class GzipStream: Sendable {
    private struct Deflate: ~Copyable {
        let stream: UnsafeMutableRawPointer
        deinit { czlib_free(stream) }
    }

    private let deflate: Mutex<Deflate>

    private static let outputSize = 64 * 1024

    /// Whether the system has zlib.
    static let isAvailable = czlib_load() == nil

    /// Creates a stream; `nil` if zlib or memory isn't available.
    init?(level: Int) {
        guard Self.isAvailable, let stream = czlib_new_gzip(Int32(min(max(1, level), 9))) else { return nil }
        deflate = Mutex(Deflate(stream: stream))
    }

    /// Compresses bytes and returns the output that is ready, possibly none.
    ///
    /// - Parameter isLast: whether this is the end of the input; all remaining output is then returned.
    func compress(_ input: Data, isLast: Bool) throws -> Data {
        try deflate.withLock { deflate in
            var output = Data()
            for piece in Self.pieces(of: input) {
                let isLastPiece = isLast && piece.upperBound == input.endIndex
                try Self.run(deflate.stream, input[piece], isLast: isLastPiece, into: &output)
            }
            return output
        }
    }

    // zlib counts bytes in 32 bits.
    private static func pieces(of input: Data) -> [Range<Data.Index>] {
        let size = 1 << 30
        guard !input.isEmpty else { return [input.startIndex..<input.startIndex] }
        return stride(from: input.startIndex, to: input.endIndex, by: size)
            .map { $0..<min($0 + size, input.endIndex) }
    }

    private static func run(
        _ stream: UnsafeMutableRawPointer,
        _ input: Data,
        isLast: Bool,
        into output: inout Data
    ) throws {
        try input.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) in
            var position = 0
            try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: outputSize) { buffer in
                while true {
                    var (taken, made): (UInt32, UInt32) = (0, 0)
                    let start = bytes.baseAddress?.advanced(by: position).assumingMemoryBound(to: UInt8.self)
                    let left = UInt32(bytes.count - position)
                    let room = UInt32(buffer.count)
                    let end: Int32 = isLast ? 1 : 0
                    let result = czlib_deflate(stream, start, left, &taken, buffer.baseAddress, room, &made, end)
                    guard result != CZLIB_FAILED.rawValue else {
                        throw TransportError(.transportFailed, "zlib could not compress the request's body.")
                    }
                    position += Int(taken)
                    output.append(contentsOf: buffer[..<Int(made)])
                    if isLast ? result == CZLIB_END.rawValue : made < room && position == bytes.count { return }
                }
            }
        }
    }
}

extension HTTPBody {
    /// A body whose chunks are compressed as they are read.
    func gzipped(level: Int) -> HTTPBody {
        wrapped { body in
            UnfoldingSequence(from: { (body.makeAsyncIterator(), GzipStream(level: level), hasEnded: false) }) {
                state in
                guard let stream = state.1 else {
                    throw TransportError(.transportFailed, "There is no memory to compress the request's body.")
                }
                while !state.hasEnded {
                    let chunk = try await state.0.next()
                    state.hasEnded = chunk == nil
                    let output = try await stream.compressApart(chunk ?? Data(), isLast: state.hasEnded)
                    if !output.isEmpty { return output }
                }
                return nil
            }
        }
    }
}

extension GzipStream {
    // Compression takes time, so it leaves the caller's actor.
    @concurrent
    fileprivate func compressApart(_ chunk: Data, isLast: Bool) async throws -> Data {
        try compress(chunk, isLast: isLast)
    }
}
