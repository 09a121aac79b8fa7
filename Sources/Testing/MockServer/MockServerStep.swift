public import Foundation
internal import InterceptorsCore

extension MockServer {
    /// One action of the server in an answer.
    public struct Step: Sendable {
        enum Action: Sendable {
            case send(Data)
            case sendRepeatedly(Data, times: Int)
            /// Sends a body while it is read. If it fails, the connection closes, so that the content breaks off.
            case sendBody(HTTPBody)
            /// The same, in the chunked coding without its end.
            case sendChunks(HTTPBody)
            case wait(Duration)
            case waitForever
            case run(@Sendable () async -> Void)
            case close
            case reset
        }

        let action: Action

        /// Sends bytes unchanged.
        public static func send(_ bytes: Data) -> Self { Self(action: .send(bytes)) }

        /// Sends text unchanged in UTF-8.
        public static func send(_ text: String) -> Self { Self(action: .send(Data(text.utf8))) }

        /// Sends the same bytes a number of times, keeping them in memory once.
        public static func send(_ bytes: Data, times: Int) -> Self {
            Self(action: .sendRepeatedly(bytes, times: max(0, times)))
        }

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
