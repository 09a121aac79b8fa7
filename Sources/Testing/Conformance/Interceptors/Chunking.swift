internal import Foundation
internal import InterceptorsCore

/// A way to cut content into chunks.
struct Chunking: Sendable {
    /// As the end of a sentence, such as `byte by byte`.
    let name: String
    private let size: @Sendable () -> Int

    private init(_ name: String, _ size: @escaping @Sendable () -> Int) {
        self.name = name
        self.size = size
    }

    /// Content may have megabytes, and each chunk costs a step of the check.
    private static let mostChunks = 16_384

    /// The ways to cut content, some of them at pseudo-random borders.
    static func all(seed: UInt64) -> [Self] {
        let random = RandomSource.seeded(seed)
        return [Self("in one chunk") { .max }, Self("byte by byte") { 1 }]
            + [4, 64, 512].map { most in
                Self("in chunks of 1 to \(most) bytes") { 1 + Int(random.next() % UInt64(most)) }
            }
    }

    /// Cuts content. Chunks of long content are longer.
    func chunks(of content: Data) -> [Data] {
        let scale = 1 + content.count / Self.mostChunks
        var (chunks, start) = ([Data](), content.startIndex)
        while start < content.endIndex {
            let length = min(size(), content.count) * scale
            let end = content.index(start, offsetBy: length, limitedBy: content.endIndex) ?? content.endIndex
            chunks.append(Data(content[start..<end]))
            start = end
        }
        return chunks
    }
}

/// Content that transformers are likely to change: line ends, characters of several bytes, escapes, markup, any bytes.
struct ContentSample: Sendable {
    let name: String
    let type: String
    let content: Data

    private init(_ name: String, _ type: String, _ content: Data) {
        (self.name, self.type, self.content) = (name, type, content)
    }

    /// The samples of every check, and the content that the author gave.
    static func all(with own: Data) -> [Self] {
        [
            Self("the check's own content", "application/json", own),
            Self("text", "text/plain; charset=utf-8", Data((0..<12).map(text).joined().utf8)),
            Self("JSON", "application/json", Data(json.utf8)),
            Self("a stream of events", "text/event-stream", Data((0..<12).map(event).joined().utf8)),
            Self("binary content", "application/octet-stream", binary),
        ]
    }

    private static func text(_ number: Int) -> String {
        "Line \(number)\r\n\tno\u{301}n \u{1F469}\u{200D}\u{1F680} “ä”  \n\r\n\r<p class=\"a\">a &amp; b</p> 100%25,secret=\(number)\r\r\n"
    }

    private static func event(_ number: Int) -> String {
        "id: \(number)\nevent: tick\ndata: {\"n\":\(number)}\r\ndata: ∑ and more\n\n"
    }

    private static let json =
        "["
        + (0..<12).map { #"{"id":\#($0),"a b":"\u00e9\n\"ß\"\\","list":[1.5e3,true,null,{"x":"\ud83d\ude80"}]}"# }
        .joined(separator: ",\r\n") + "]\n"

    private static let binary: Data = {
        let random = RandomSource.seeded(7)
        return Data((0...255).map { UInt8($0) } + (0..<768).map { _ in UInt8(truncatingIfNeeded: random.next()) })
    }()
}
