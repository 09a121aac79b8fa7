internal import Foundation

/// Removes the chunked coding from content as its bytes arrive (RFC 9112 §7.1).
struct ChunkedDecoder {
    private enum State {
        case size
        case data(left: Int)
        case dataEnd
        case trailers
        case done
    }

    private var state = State.size
    private var lines: LineReader
    private var trailerSize = 0
    private let lineLimit: Int

    init(lineLimit: Int) {
        self.lineLimit = lineLimit
        lines = LineReader(limit: lineLimit, tooLong: BadRequest("A line of the chunked coding is over the limit."))
    }

    /// Whether the content is complete.
    var isDone: Bool { if case .done = state { true } else { false } }

    /// Decodes the next bytes.
    ///
    /// - Returns: the number of bytes that belong to this content and its framing. The remaining bytes belong to the next
    ///   request.
    mutating func decode(
        _ bytes: ArraySlice<UInt8>,
        into receive: (ArraySlice<UInt8>) throws(BadRequest) -> Void
    ) throws(BadRequest) -> Int {
        var rest = bytes
        while !rest.isEmpty {
            switch state {
            case .size:
                guard let size = try Self.size(lines.next(from: &rest)) else { continue }
                state = size == 0 ? .trailers : .data(left: size)
            case .data(let left):
                let piece = rest.prefix(left)
                try receive(piece)
                rest = rest.dropFirst(piece.count)
                state = piece.count == left ? .dataEnd : .data(left: left - piece.count)
            case .dataEnd:
                guard let end = try lines.next(from: &rest) else { continue }
                guard end.isEmpty else { throw BadRequest("A chunk is longer than its size says.") }
                state = .size
            case .trailers:
                // The fields are checked and dropped.
                guard let line = try lines.next(from: &rest) else { continue }
                guard !line.isEmpty else {
                    state = .done
                    continue
                }
                trailerSize += line.count + 2
                guard trailerSize <= lineLimit else { throw BadRequest(431, "The trailer fields are over the limit.") }
                _ = try RequestHead.fields(of: [line])
            case .done:
                return bytes.count - rest.count
            }
        }
        return bytes.count
    }

    private static func size(_ line: [UInt8]?) throws(BadRequest) -> Int? {
        guard let line else { return nil }
        // A chunk extension may follow; the server ignores it.
        let digits = line.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
        let text = String(decoding: digits, as: UTF8.self)
        guard !text.isEmpty,
            text.utf8.allSatisfy({ UInt8(ascii: "0") <= $0 && Character(UnicodeScalar($0)).isHexDigit })
        else { throw BadRequest("The size of a chunk is no hexadecimal number (RFC 9112 §7.1).") }
        guard let size = Int(text, radix: 16) else {
            throw BadRequest(413, "The size of a chunk is beyond every limit.")
        }
        return size
    }
}
