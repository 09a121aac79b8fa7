#if !canImport(FoundationNetworking)
internal import Foundation

/// Feeds a body into the stream that URLSession reads from, no faster than it reads.
enum UploadPump {
    private static let bufferSize = 64 * 1024

    /// The stream for URLSession, and the task that fills it.
    ///
    /// - Parameter onFailure: called if the body can't be read; the stream then ends early.
    static func start(
        _ body: HTTPBody,
        onFailure: @escaping @Sendable (any Error) -> Void
    ) -> (stream: InputStream, filling: Task<Void, Never>)? {
        var input: InputStream?
        var output: OutputStream?
        Stream.getBoundStreams(withBufferSize: bufferSize, inputStream: &input, outputStream: &output)
        guard let input, let output else { return nil }
        let sink = Sink(output)
        let filling = Task {
            do {
                for try await chunk in body { try await sink.write(chunk) }
            } catch {
                onFailure(error)
            }
            sink.close()
        }
        return (input, filling)
    }

    /// The writing end. Writing blocks while the buffer is full, so it has a queue of its own.
    private final class Sink: @unchecked Sendable {
        // Used on `queue` alone.
        private let stream: OutputStream
        private let queue = DispatchQueue(label: "Transport.UploadPump")

        init(_ stream: OutputStream) {
            self.stream = stream
            queue.async { self.stream.open() }
        }

        func write(_ chunk: Data) async throws {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                queue.async { continuation.resume(with: Result { try self.writeAll(chunk) }) }
            }
        }

        func close() { queue.async { self.stream.close() } }

        private func writeAll(_ chunk: Data) throws {
            let bytes = [UInt8](chunk)
            var written = 0
            while written < bytes.count {
                let count = bytes.withUnsafeBufferPointer { buffer in
                    buffer.baseAddress.map { stream.write($0 + written, maxLength: bytes.count - written) } ?? 0
                }
                // URLSession has closed its end: it has a response already, or the call is over.
                guard count > 0 else { throw CancellationError() }
                written += count
            }
        }
    }
}
#endif
