internal import Foundation

/// The implementation of `.compressRequest(…)`, documented there.
struct CompressRequestInterceptor: PlacedInterceptor {
    let minimum: Int64
    let level: Int
    let isCompressed: @Sendable (HTTPRequest) -> Bool

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        if mayCompress(request), isCompressed(request), GzipStream.isAvailable,
            let body = try await compressed(request.body)
        {
            request.note(.compressed(from: request.body.length, to: body.length))
            request.body = body
            request.headers[.contentEncoding] = "gzip"
            request.headers.remove(.contentLength)
        }
        return try await next(request)
    }

    private func mayCompress(_ request: borrowing HTTPRequest) -> Bool {
        if let length = request.body.length, length <= minimum { return false }
        // The transport rejects a used-up stream before it sends anything.
        guard request.body.isReadable else { return false }
        if request.headers.contains(where: { Self.fixed.contains($0.name) }) { return false }
        guard request.context.callShape.mayCompress else { return false }
        // A trailer may be a digest of the content.
        return !Self.isCompressedByNature(request.headers[.contentType])
    }

    private func compressed(_ body: HTTPBody) async throws -> HTTPBody? {
        if let bytes = body.data {
            let compressed = try await Self.compressed(bytes, level: level)
            return compressed.map { HTTPBody($0) }
        }
        return body.gzipped(level: level)
    }

    // Compression takes time, so it leaves the caller's actor.
    @concurrent
    private static func compressed(_ bytes: Data, level: Int) async throws -> Data? {
        guard let compressed = try GzipStream(level: level)?.compress(bytes, isLast: true) else { return nil }
        return compressed.count < bytes.count ? compressed : nil
    }

    // Fields that describe the exact bytes of the content.
    private static let fixed: Set<HTTPField.Name> = [
        .contentEncoding, .contentRange, "Content-Digest", "Repr-Digest", "Digest", "Content-MD5",
    ]

    private static func isCompressedByNature(_ contentType: String?) -> Bool {
        guard let contentType else { return false }
        let end = contentType.utf8.firstIndex { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: " ") }
        let type = contentType[..<(end ?? contentType.endIndex)].lowercased()
        if type.hasSuffix("+xml") || type.hasSuffix("+json") { return false }
        if ["image/", "audio/", "video/", "font/woff"].contains(where: { type.hasPrefix($0) }) {
            return !["image/bmp", "image/tiff", "audio/wav"].contains(type)
        }
        return [
            "application/zip", "application/gzip", "application/x-gzip", "application/zstd",
            "application/x-7z-compressed",
            "application/x-bzip2", "application/x-xz", "application/vnd.rar", "application/java-archive",
            "application/pdf",
        ].contains(type)
    }

    var placement: [ChainRole] { [.compresses] }
}

extension Interceptor where Self == AnyInterceptor {
    /// Compresses the content of requests with gzip, for servers that are known to accept it (RFC 9110 §8.4.1.3).
    ///
    /// ```swift
    /// .compressRequest(above: 1024)
    /// .compressRequest { $0.url.path().hasPrefix("/upload") }
    /// ```
    /// Use this interceptor only if the server documents its support of gzip. Other servers answer 415 (RFC 9110 §15.5.16), or
    /// misread the content.
    ///
    /// ## Order
    /// - Outside redirects and `retry`, so that the content is compressed only once.
    /// - Outside `sign` and `digestAuth`, which cover the bytes as sent, and outside a `logging` that logs the wire.
    /// - Inside interceptors that inspect the content.
    ///
    /// ## Behaviour
    /// - Content over the minimum, or of unknown length, is sent with `Content-Encoding: gzip`. The request's `Content-Length`
    ///   is removed; the transport sets the new one if the length is known.
    /// - Content in memory stays in memory, and is sent uncompressed if compression doesn't make it smaller.
    /// - A file or stream is compressed while it is sent, so its length is unknown. A restartable body stays restartable, with
    ///   the same bytes each time; a one-shot body is still read once.
    /// - A request stays unchanged if it has a `Content-Encoding`, a `Content-Range` or a digest of its content. The same
    ///   applies to content of a type that is already compressed, such as images and archives, to uploads that resume, requests
    ///   with trailers, and on systems without zlib.
    ///
    /// - Parameters:
    ///   - minimum: content of up to this many bytes is sent uncompressed; 1024 by default.
    ///   - level: from 1 (fastest) to 9 (smallest); 6 by default.
    ///   - isCompressed: selects which of the eligible requests to compress; by default all.
    public static func compressRequest(
        above minimum: Int = 1024,
        level: Int = 6,
        where isCompressed: @escaping @Sendable (HTTPRequest) -> Bool = { _ in true }
    ) -> Self {
        let minimum = Int64(max(0, minimum))
        return Self(CompressRequestInterceptor(minimum: minimum, level: level, isCompressed: isCompressed))
    }
}
