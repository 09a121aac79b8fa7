public import Foundation

extension MockResponse {
    /// One thing that the server does for a response.
    public struct Step: Sendable {
        enum Action: Sendable {
            case send(Data)
            case sendRepeatedly(Data, times: Int)
            case wait(Duration)
            case waitForever
            case run(@Sendable () async -> Void)
            case close
            case reset
        }

        let action: Action

        /// Sends bytes, as they are.
        public static func send(_ bytes: Data) -> Self { Self(action: .send(bytes)) }

        /// Sends text in UTF-8, as it is.
        public static func send(_ text: String) -> Self { Self(action: .send(Data(text.utf8))) }

        /// Sends the same bytes so many times. They are held once.
        public static func send(_ bytes: Data, times: Int) -> Self {
            Self(action: .sendRepeatedly(bytes, times: max(0, times)))
        }

        /// Waits on the server's clock.
        public static func wait(_ duration: Duration) -> Self { Self(action: .wait(duration)) }

        /// Waits until the client gives up or the server stops.
        public static var waitForever: Self { Self(action: .waitForever) }

        /// Runs code, and goes on when it returns: a place for a test to look at what the client has seen so far.
        ///
        /// Its task is cancelled when the client goes away or the server stops; nobody waits for it then.
        public static func run(_ operation: @escaping @Sendable () async -> Void) -> Self {
            Self(action: .run(operation))
        }

        /// Closes the connection. What was sent still arrives.
        public static var close: Self { Self(action: .close) }

        /// Resets the connection (RST): the client's system may drop what it had received.
        public static var reset: Self { Self(action: .reset) }
    }
}
