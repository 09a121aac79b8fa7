internal import CInterceptorsZlib

#if os(Linux)
internal import CInterceptorsBrotli
internal import CInterceptorsZstd
#endif

/// Decodes one coding with the system's library.
///
/// gzip content may have several members (RFC 1952 §2.2), and zstd content several frames (RFC 8878 §3.1): after the end of
/// one, another may begin.
final class CodingDecoder {
    /// The numbers of bytes that a step consumed and produced.
    struct Step {
        var taken = 0
        var made = 0
    }

    private let coding: ContentCoding
    private var stream: UnsafeMutableRawPointer?
    /// The first byte of `deflate` content, kept until the second byte shows the format.
    private var firstByte: UInt8?
    private var hasBegun = false
    private var isAtEnd = false

    init(_ coding: ContentCoding) { self.coding = coding }

    deinit {
        guard let stream else { return }
        switch coding {
        case .gzip, .deflate: czlib_free_inflate(stream)
        #if os(Linux)
        case .brotli: cbrotli_free(stream)
        case .zstd: czstd_free(stream)
        #endif
        }
    }

    /// Whether the consumed content is complete. No content at all counts as complete, because servers announce a coding even
    /// for empty content.
    var isWhole: Bool { !hasBegun || isAtEnd }

    /// Decodes as much as the input and the output's room allow. With empty input, continues with the input of earlier steps.
    func step(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) throws -> Step {
        guard !input.isEmpty || hasBegun && !isAtEnd else { return Step() }
        hasBegun = true
        if stream == nil, coding == .deflate, let step = try chooseKind(input, into: output) { return step }
        let stream = try stream ?? open()
        if isAtEnd { try beginNext(stream) }
        return try decode(stream, input, into: output)
    }

    private func open(_ windowBits: Int32 = 15 + 16) throws -> UnsafeMutableRawPointer {
        let opened: UnsafeMutableRawPointer? =
            switch coding {
            case .gzip, .deflate: czlib_new_inflate(windowBits)
            #if os(Linux)
            case .brotli: cbrotli_new()
            // RFC 9659 §3: a window of at most 8 MB (2^23).
            case .zstd: czstd_new(23)
            #endif
            }
        guard let opened else { throw ContentDecodingError.noMemory }
        stream = opened
        return opened
    }

    // `deflate` is the zlib format (RFC 9110 §8.4.1.2), but some servers send raw compressed data. The zlib format begins
    // with a method and a check (RFC 1950 §2.2), by which the two are distinguished.
    private func chooseKind(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) throws -> Step?
    {
        guard let first = firstByte ?? input.first else { return Step() }
        let rest = firstByte == nil ? input.dropFirst() : input[...]
        guard let second = rest.first else {
            firstByte = first
            return Step(taken: input.count)
        }
        let isZlib = first & 0x0F == 8 && (UInt16(first) << 8 | UInt16(second)) % 31 == 0
        let stream = try open(isZlib ? 15 : -15)
        guard firstByte != nil else { return nil }
        // The kept byte comes before the rest of the input.
        let made = try withUnsafeBytes(of: first) { try decode(stream, $0, into: output).made }
        firstByte = nil
        return made > 0 ? Step(made: made) : nil
    }

    private func beginNext(_ stream: UnsafeMutableRawPointer) throws {
        switch coding {
        case .gzip:
            guard czlib_reset_inflate(stream) == CZLIB_MORE.rawValue else {
                throw ContentDecodingError.malformed(coding)
            }
        #if os(Linux)
        case .zstd: break
        case .brotli: throw ContentDecodingError.malformed(coding)
        #endif
        case .deflate: throw ContentDecodingError.malformed(coding)
        }
        isAtEnd = false
    }

    private func decode(
        _ stream: UnsafeMutableRawPointer,
        _ input: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws -> Step {
        let source = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let target = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        var (taken, made) = (0, 0)
        let result: Int32
        switch coding {
        case .gzip, .deflate:
            var (shortTaken, shortMade): (UInt32, UInt32) = (0, 0)
            let size = UInt32(min(input.count, 1 << 30))
            let room = UInt32(min(output.count, 1 << 30))
            result = czlib_inflate(stream, source, size, &shortTaken, target, room, &shortMade)
            (taken, made) = (Int(shortTaken), Int(shortMade))
        #if os(Linux)
        case .brotli: result = cbrotli_decode(stream, source, input.count, &taken, target, output.count, &made)
        case .zstd: result = czstd_decode(stream, source, input.count, &taken, target, output.count, &made)
        #endif
        }
        guard result >= 0 else { throw ContentDecodingError.malformed(coding) }
        isAtEnd = result == 1
        return Step(taken: taken, made: made)
    }
}
