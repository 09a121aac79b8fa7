public import Foundation

extension MockServer {
    /// A request as received by the server.
    public struct Request: Sendable {
        /// The method.
        public let method: HTTPRequest.Method
        /// The request target as on the wire (RFC 9112 §3.2).
        public let target: String
        /// The path of the target, percent-encoded as on the wire; `*` for the asterisk form.
        public let path: String
        /// The part after the first `?` of the target, percent-encoded as on the wire.
        public let query: String?
        /// The HTTP version: `1.1` or `1.0`.
        public let version: String
        /// The header fields, in the order and spelling of the wire. A value that isn't UTF-8 is read as ISO 8859-1.
        public let headers: HTTPFields
        /// The content without its transfer coding. If it exceeds the server's `keptBodyLimit`, only its beginning.
        public internal(set) var body = Data()
        /// The number of bytes of the whole content.
        public internal(set) var bodyLength = 0
        /// The connection's number, counted from 1 in the order of acceptance.
        public internal(set) var connection = 0
        /// The request's number on its connection, counted from 1. A number above 1 means that the connection was reused.
        public internal(set) var number = 0

        /// The content as text. Bytes that aren't UTF-8 are replaced.
        public var text: String { String(decoding: body, as: UTF8.self) }

        /// The first value of a query parameter, decoded. Both `+` and `%20` become a space.
        public func queryValue(_ name: String) -> String? {
            // URLComponents encodes the whole query again if a byte of it is not allowed there.
            for pair in (query ?? "").split(separator: "&") {
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { part in
                    part.replacing("+", with: " ").removingPercentEncoding ?? String(part)
                }
                if parts[0] == name { return parts.count == 2 ? parts[1] : "" }
            }
            return nil
        }
    }
}

extension MockServer {
    /// How the server reads the content of one request.
    ///
    /// - interims: the fields of responses with the status 104, which are sent before the content is read.
    /// - limit: the number of bytes after which the content isn't read any further; `nil` to read all of it.
    /// - answer: returns the response. Gets the request with the content, and whether the limit left any of it unread.
    package typealias Intake = (
        interims: [HTTPFields], limit: Int?, answer: @Sendable (_ request: Request, _ isCut: Bool) -> StubAnswer
    )

    /// Answers the requests that no route and no queued response answers by a closure that gets their heads.
    package func answerOthers(_ admit: @escaping @Sendable (Request) -> Intake) {
        core.state.change { $0.admit = admit }
    }
}

extension MockServer.Request: CustomStringConvertible {
    /// The method and the target.
    public var description: String { "\(method) \(target)" }
}

extension MockServer {
    /// One action of the server in an answer.
    public struct Step: Sendable {
        enum Action: Sendable {
            case send(Data, times: Int)
            /// Sends a body while it is read, perhaps in the chunked coding without its end. If it fails, the connection closes, so
            /// that the content breaks off.
            case sendBody(HTTPBody, isChunked: Bool)
            case wait(Duration)
            case waitForever
            case run(@Sendable () async -> Void)
            case close
            case reset
        }

        let action: Action

        /// Sends bytes unchanged.
        public static func send(_ bytes: Data) -> Self { send(bytes, times: 1) }

        /// Sends text unchanged in UTF-8.
        public static func send(_ text: String) -> Self { send(Data(text.utf8)) }

        /// Sends the same bytes a number of times, keeping them in memory once.
        public static func send(_ bytes: Data, times: Int) -> Self { Self(action: .send(bytes, times: max(0, times))) }

        /// Waits on the server's clock.
        public static func wait(_ duration: Duration) -> Self { Self(action: .wait(duration)) }

        /// Waits until the client goes away or the server stops.
        public static var waitForever: Self { Self(action: .waitForever) }

        /// Runs code and continues when it returns. A test can use this step to check what the client has received so far.
        ///
        /// If the client goes away or the server stops, the code's task is cancelled and its end isn't awaited.
        public static func run(_ operation: @escaping @Sendable () async -> Void) -> Self {
            Self(action: .run(operation))
        }

        /// Closes the connection. Bytes already sent still arrive.
        public static var close: Self { Self(action: .close) }

        /// Resets the connection (RST). The client's system may drop bytes it has received.
        public static var reset: Self { Self(action: .reset) }
    }
}
