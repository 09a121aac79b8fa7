#if !canImport(FoundationNetworking)
internal import Foundation

/// The writing end of the stream that URLSession reads content from. When nobody holds it any more, the stream ends.
///
/// Writing blocks while the stream's buffer is full, for as long as the server reads nothing: on a thread that does nothing else.
final class UploadStream: UploadSink, @unchecked Sendable {
    private static let bufferSize = 64 * 1024

    // `@unchecked Sendable`, since this is used on `thread` alone once it is set.
    private let output: OutputStream
    private let thread = BlockingThread(name: "Transport.UploadStream")

    private init(_ output: OutputStream) {
        self.output = output
        thread.run { self.output.open() }
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
            thread.run { continuation.resume(returning: self.writeAll(chunk)) }
        }
    }

    func close() { thread.run { self.output.close() } }

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
