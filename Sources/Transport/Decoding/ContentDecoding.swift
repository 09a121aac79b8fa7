package import Foundation
internal import InterceptorsSyntax

/// Content under content codings, in memory, for what must read it and isn't a transport.
package enum ContentDecoding {
    /// Whether the fields name a coding other than `identity`.
    package static func isCoded(_ fields: HTTPFields) -> Bool {
        fields.contains { $0.name == .contentEncoding }
            && fields[values: .contentEncoding].flatMap(TokenList.firstWords).contains { $0 != "identity" }
    }

    /// The content without its codings; `nil` if a coding is unknown here, if the content isn't in its coding or ends too soon,
    /// or if it is longer than the limit.
    ///
    /// Only Linux has decoders for brotli and zstd. On other platforms, the result for such content is `nil`.
    package static func decoded(_ content: Data, _ fields: HTTPFields, upTo limit: Int) -> Data? {
        guard isCoded(fields) else { return content }
        guard let codings = ContentCoding.parse(fields[values: .contentEncoding]) else { return nil }
        let decoder = ContentDecoder(codings)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        defer { buffer.deallocate() }
        var result = Data()
        do {
            try content.withUnsafeBytes { bytes in
                var rest = bytes
                while case let count = try decoder.read(from: &rest, into: buffer), count > 0 {
                    guard result.count + count <= limit else { throw ContentDecodingError.noMemory }
                    result.append(contentsOf: UnsafeRawBufferPointer(rebasing: buffer.prefix(count)))
                }
                try decoder.finish()
            }
        } catch {
            return nil
        }
        return result
    }
}
