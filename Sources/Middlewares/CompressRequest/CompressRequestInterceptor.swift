internal import Foundation

/// Compresses the content of requests with gzip, for servers that are known to take it (RFC 9110 §8.4.1.3).
///
/// ```swift
/// .compressRequest(above: 1024)
/// .compressRequest { $0.url.path().hasPrefix("/upload") }
/// ```
/// A server that doesn't take it answers 415 (RFC 9110 §15.5.16), or does worse: ask for it only where it is documented.
///
/// ## Its place
/// Outside of redirects and a retry the content is compressed once. Outside of `sign` and `digestAuth`, which cover what is sent, and of
/// `logging` if it is to show the wire; inside of what looks into the content.
///
/// ## What it does
/// - Content over the size, or of unknown length, gets `Content-Encoding: gzip`; a `Content-Length` that the request has goes,
///   and the transport sets the new one where there is one.
/// - What is in memory stays in memory, and is sent as it was if it doesn't get smaller. A file and a stream are compressed
///   while they are sent, without a known length: a restartable one stays restartable, with the same bytes each time, and
///   a one-shot one is still read once.
/// - A request stays as it is if it has a `Content-Encoding` already, a `Content-Range`, a digest of its content, or a type that
///   is compressed by nature, such as images and archives; and where the system has no zlib.
public struct CompressRequestInterceptor: Interceptor {
    private let minimum: Int64
    private let level: Int
    private let isCompressed: @Sendable (HTTPRequest) -> Bool

    /// A compressing interceptor.
    ///
    /// - Parameters:
    ///   - minimum: content of this many bytes and fewer is sent as it is; 1024 by default.
    ///   - level: from 1, fast, to 9, small; 6 by default.
    ///   - isCompressed: which of the requests that may be compressed are; by default all.
    public init(
        above minimum: Int = 1024,
        level: Int = 6,
        where isCompressed: @escaping @Sendable (HTTPRequest) -> Bool = { _ in true }
    ) {
        self.minimum = Int64(max(0, minimum))
        self.level = level
        self.isCompressed = isCompressed
    }

    /// Compresses the content, and passes the request on.
    public func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        if mayCompress(request), isCompressed(request), GzipStream.isAvailable,
            let body = try await compressed(request.body)
        {
            request.body = body
            request.headerFields[.contentEncoding] = "gzip"
            request.headerFields.remove(.contentLength)
        }
        return try await next(request)
    }

    private func mayCompress(_ request: borrowing HTTPRequest) -> Bool {
        if let length = request.body.length, length <= minimum { return false }
        // A used-up stream is for the transport to refuse, before it sends anything.
        guard request.body.isReadable else { return false }
        if request.headerFields.contains(where: { Self.fixed.contains($0.name) }) { return false }
        return !Self.isCompressedByNature(request.headerFields[.contentType])
    }

    private func compressed(_ body: HTTPBody) async throws -> HTTPBody? {
        if let bytes = body.bytes {
            let compressed = try await Self.compressed(bytes, level: level)
            return compressed.map { HTTPBody($0) }
        }
        let chunks = GzipChunks(body: body, level: level)
        if body.isRestartable { return .restartable { chunks } }
        return .oneShot(chunks, onDiscard: { body.discard() })
    }

    // It takes its time: not on the caller's actor.
    @concurrent
    private static func compressed(_ bytes: Data, level: Int) async throws -> Data? {
        guard let compressed = try GzipStream(level: level)?.compress(bytes, isLast: true) else { return nil }
        return compressed.count < bytes.count ? compressed : nil
    }

    // What says something of the very bytes that the request has.
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
}

extension Interceptor where Self == CompressRequestInterceptor {
    /// Compresses the content of requests with gzip: see ``CompressRequestInterceptor``, and its initialiser for the parameters.
    public static func compressRequest(
        above minimum: Int = 1024,
        level: Int = 6,
        where isCompressed: @escaping @Sendable (HTTPRequest) -> Bool = { _ in true }
    ) -> Self {
        Self(above: minimum, level: level, where: isCompressed)
    }
}
