internal import CInterceptorsZlib
internal import InterceptorsSyntax

#if os(Linux)
internal import CInterceptorsBrotli
internal import CInterceptorsZstd
#endif

/// A content coding that this package can decode (RFC 9110 §8.4.1).
///
/// On Apple's systems, Foundation decodes responses. This package loads brotli and zstd only on Linux.
enum ContentCoding: Sendable, CaseIterable {
    case gzip, deflate
    #if os(Linux)
    case brotli, zstd
    #endif

    /// The codings whose libraries the system has, in order of preference.
    static let available = allCases.filter { $0.loadError == nil }

    /// The value of `Accept-Encoding` for the available codings.
    static let acceptEncoding = available.isEmpty ? "identity" : available.map { $0.names[0] }.joined(separator: ", ")

    /// The names in `Content-Encoding`; the first one is sent.
    private var names: [String] {
        switch self {
        case .gzip: ["gzip", "x-gzip"]
        case .deflate: ["deflate"]
        #if os(Linux)
        case .brotli: ["br"]
        case .zstd: ["zstd"]
        #endif
        }
    }

    private var loadError: UnsafePointer<CChar>? {
        switch self {
        case .gzip, .deflate: czlib_load()
        #if os(Linux)
        case .brotli: cbrotli_load()
        case .zstd: czstd_load()
        #endif
        }
    }

    // More codings than any server needs. Each coding costs memory and time.
    private static let most = 5

    /// The codings of a `Content-Encoding`, in the order they were applied; `nil` if one of them can't be decoded.
    static func parse(_ values: [String]) -> [ContentCoding]? {
        var codings: [ContentCoding] = []
        for name in values.flatMap(TokenList.firstWords) where name != "identity" {
            guard let coding = available.first(where: { $0.names.contains(name) }), codings.count < most else {
                return nil
            }
            codings.append(coding)
        }
        return codings
    }
}

/// The reason content could not be decoded.
enum ContentDecodingError: Error, Equatable {
    /// The bytes aren't in the announced coding, or their checksum is wrong.
    case malformed(ContentCoding)
    /// The content ends before its coding does.
    case unfinished(ContentCoding)
    case noMemory

    var transportError: TransportError {
        switch self {
        case .malformed(let coding):
            TransportError(.invalidResponse, "The content is not in its coding (\(coding)), or its checksum is wrong.")
        case .unfinished(let coding):
            TransportError(.truncated, "The content ended before its coding (\(coding)) did.")
        case .noMemory: TransportError(.transportFailed, "There is no memory to decode the content.")
        }
    }
}
