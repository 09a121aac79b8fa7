internal import Foundation

/// The blocks of a PEM text (RFC 7468).
enum PEM {
    struct Block {
        let label: String
        let der: Data
    }

    private static let begin = "-----BEGIN "
    private static let end = "-----END "
    private static let dashes = "-----"

    /// Whether the content contains a PEM header.
    static func isText(_ content: Data) -> Bool { content.range(of: Data(begin.utf8)) != nil }

    /// The blocks of a PEM text. `nil` if any block is malformed.
    static func blocks(_ content: Data) -> [Block]? {
        var blocks: [Block] = []
        var open: (label: String, base64: String)?
        for line in String(decoding: content, as: UTF8.self).split(whereSeparator: \.isNewline) {
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.hasPrefix(begin), line.hasSuffix(dashes) {
                guard open == nil else { return nil }
                open = (String(line.dropFirst(begin.count).dropLast(dashes.count)), "")
            } else if line.hasPrefix(end), let block = open {
                guard line == end + block.label + dashes, let der = Data(base64Encoded: block.base64) else {
                    return nil
                }
                blocks.append(Block(label: block.label, der: der))
                open = nil
            } else if let block = open {
                open = (block.label, block.base64 + line)
            }
        }
        return open == nil ? blocks : nil
    }

    /// DER data as a PEM text.
    static func text(_ label: String, _ der: Data) -> String {
        let base64 = der.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "\(begin)\(label)\(dashes)\n\(base64)\n\(end)\(label)\(dashes)\n"
    }
}
