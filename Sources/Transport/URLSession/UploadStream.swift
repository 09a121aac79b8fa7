#if !canImport(FoundationNetworking)
internal import Foundation

/// The writing end of the stream that URLSession reads content from. When nobody holds it any more, the stream ends.
///
/// Writing blocks while the stream's buffer is full, so it has a queue of its own.
final class UploadStream: UploadSink, @unchecked Sendable {
    private static let bufferSize = 64 * 1024

    // Used on `queue` alone.
    private let output: OutputStream
    private let queue = DispatchQueue(label: "Transport.UploadStream")

    private init(_ output: OutputStream) {
        self.output = output
        queue.async { self.output.open() }
    }

    /// Both ends.
    static func make() -> (input: InputStream, sink: UploadStream)? {
        var input: InputStream?
        var output: OutputStream?
        Stream.getBoundStreams(withBufferSize: bufferSize, inputStream: &input, outputStream: &output)
        guard let input, let output else { return nil }
        return (input, UploadStream(output))
    }

    func write(_ chunk: Data) async -> Bool {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: self.writeAll(chunk)) }
        }
    }

    func close() { queue.async { self.output.close() } }

    /// Whether all of it was taken: URLSession closes its end when it wants no more.
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
