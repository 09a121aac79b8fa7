/// Thrown by ``StubTransport/verify()``: everything that is left over, in one error.
public struct StubVerificationError: Error, Sendable {
    /// One thing that is left over.
    public struct Problem: Sendable, CustomStringConvertible {
        /// The kind of a problem. An open set.
        public struct Kind: OpenSet {
            /// The name of the kind.
            public let rawValue: String
            /// Creates a kind from its name.
            public init(rawValue: String) { self.rawValue = rawValue }
            /// A stub answered no request, or fewer than its `times:`.
            public static let unusedStub = Self(rawValue: "unusedStub")
            /// An answer is still in the queue.
            public static let unusedAnswer = Self(rawValue: "unusedAnswer")
            /// A request arrived, and its response or error isn't there yet.
            public static let waitingRequest = Self(rawValue: "waitingRequest")
            /// A streamed response was neither read to its end nor discarded.
            public static let openBody = Self(rawValue: "openBody")
        }

        /// The kind of the problem.
        public let kind: Kind
        /// The stub or the request, with secrets in URLs redacted, and the problem.
        public let message: String
        /// Where the stub was registered. `nil` if no stub answers the request.
        public let location: CodeLocation?

        /// The message and the location.
        public var description: String { location.map { "\(message) (\($0))" } ?? message }
    }

    /// The problems: stubs in the order of their registration, then the queue, then requests and bodies.
    public let problems: [Problem]
}

extension StubVerificationError: CustomStringConvertible {
    /// The problems, separated by semicolons.
    public var description: String {
        "StubVerificationError: " + problems.map(\.description).joined(separator: "; ")
    }
}
