public import Foundation
public import InterceptorsCore

// Faults of a ``MockServer``: a few steps each, or a response that breaks its head's promises. Build others with `init(steps:)`.
extension StubAnswer {
    /// Closes the connection instead of answering.
    public static var closeBeforeHead: Self { Self(steps: [.close]) }

    /// Closes the connection in the middle of a field line.
    public static var closeInHead: Self { Self(steps: [.send("HTTP/1.1 200 OK\r\nContent-Le"), .close]) }

    /// Announces a content length in bytes, and closes the connection after fewer.
    public static func closeInBody(after sent: Int, of announced: Int) -> Self {
        wrongContentLength(announced: announced, body: Data(repeating: UInt8(ascii: "x"), count: max(0, sent)))
    }

    /// Announces a content length in bytes, sends only the beginning, and keeps the connection open until the client closes it.
    public static func stallInBody(after beginning: Data, of announced: Int) -> Self {
        status(200, body: .restartable(length: Int64(announced)) { AsyncStream { $0.yield(beginning) } })
    }

    /// Announces one content length and sends another.
    ///
    /// If the content is shorter than announced, the connection is closed after it, so that the client can notice. If the
    /// content is longer, the connection stays open, and the excess bytes precede the next response.
    public static func wrongContentLength(announced: Int, body: Data) -> Self {
        let answer = Self.status(200, headers: [.contentLength: String(announced)], body: body)
        return body.count < announced ? answer.closing(announced: false) : answer
    }

    /// Announces one content length and sends text of another.
    public static func wrongContentLength(announced: Int, body: String) -> Self {
        wrongContentLength(announced: announced, body: Data(body.utf8))
    }

    /// Sends bytes that aren't HTTP, including NUL and invalid UTF-8, and closes the connection.
    public static var garbage: Self {
        let bytes: [UInt8] = [0x00, 0xFF, 0xFE, 0x15, 0x03, 0x01] + Array("%$!\r\n\r\n\u{1B}[2J".utf8) + [0xC3, 0x28]
        return raw(Data(bytes))
    }

    /// Resets the connection instead of answering.
    public static var reset: Self { Self(steps: [.reset]) }

    /// Sends bytes unchanged, and closes the connection.
    public static func raw(_ bytes: Data) -> Self { Self(steps: [.send(bytes), .close]) }

    /// Sends text unchanged in UTF-8, and closes the connection.
    public static func raw(_ text: String) -> Self { raw(Data(text.utf8)) }
}
