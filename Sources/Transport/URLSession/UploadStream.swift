#if !canImport(FoundationNetworking)
internal import Foundation

/// The writing end of the stream from which URLSession reads content. The stream ends when nothing refers to this object.
///
/// Writing blocks while the stream's buffer is full, which lasts as long as the server reads nothing. A separate thread
/// therefore writes.
final class UploadStream: UploadSink, @unchecked Sendable {
    private static let bufferSize = 64 * 1024

    // `@unchecked Sendable`: after `init`, only `thread` uses `output`.
    private let output: OutputStream
    private let thread = BlockingThread(name: "Transport.UploadStream")

    private init(_ output: OutputStream) {
        self.output = output
        thread.run { self.output.open() }
    }

    /// The stream's reading end, for URLSession, and its writing end; `nil` if Foundation provides none.
    static func make() -> (input: InputStream, sink: UploadStream)? {
        var input: InputStream?
        var output: OutputStream?
        Stream.getBoundStreams(withBufferSize: bufferSize, inputStream: &input, outputStream: &output)
        guard let input, let output else { return nil }
        return (input, UploadStream(output))
    }

    func write(_ chunk: Data) async -> Bool {
        await withCheckedContinuation { continuation in
            thread.run { continuation.resume(returning: self.writeAll(chunk)) }
        }
    }

    func close() { thread.run { self.output.close() } }

    /// Writes a chunk. Returns `false` if URLSession wants no more and has closed its end.
    private func writeAll(_ chunk: Data) -> Bool {
        chunk.withUnsafeBytes { bytes in
            var rest = bytes.bindMemory(to: UInt8.self)
            while let start = rest.baseAddress, !rest.isEmpty {
                let count = output.write(start, maxLength: rest.count)
                guard count > 0 else { return false }
                rest = UnsafeBufferPointer(rebasing: rest.dropFirst(count))
            }
            return true
        }
    }
}
#endif
