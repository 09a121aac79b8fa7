public import InterceptorsCore

extension Simulation {
    /// Something that must hold in each simulation.
    public struct Property: OpenSet {
        /// The name of the property, such as `everyCallEnds`.
        public let rawValue: String
        /// Creates a property from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Each call ends, with a response or an error.
        public static let everyCallEnds = Self(rawValue: "everyCallEnds")
        /// When the calls have ended, no work goes on without end.
        public static let timeEnds = Self(rawValue: "timeEnds")
        /// No job blocks its thread.
        public static let noThreadIsBlocked = Self(rawValue: "noThreadIsBlocked")
        /// A cancelled call ends at once, is not sent again, and if it fails, throws `CancellationError`.
        public static let cancellationEndsACall = Self(rawValue: "cancellationEndsACall")
        /// A call has its response, or its error, by its deadline (``World/giveDeadlines(_:)``).
        public static let aDeadlineEndsACall = Self(rawValue: "aDeadlineEndsACall")
        /// At the end no exchange goes on, and each response's stream was read to its end or discarded.
        public static let nothingStaysOpen = Self(rawValue: "nothingStaysOpen")
        /// At the end nothing holds the client's transport any more, such as a task that waits for ever.
        public static let theChainIsReleased = Self(rawValue: "theChainIsReleased")
        /// A server receives the whole content of a call, and a caller the whole content that the server sent, or an error.
        ///
        /// Except this property if the chain changes content, such as a chain that unwraps an envelope.
        public static let contentComesWhole = Self(rawValue: "contentComesWhole")
        /// A one-shot body is never sent again.
        public static let aOneShotBodyIsSentOnce = Self(rawValue: "aOneShotBodyIsSentOnce")
        /// A POST is sent again after a server may have acted on it only if both requests have the same idempotency key.
        ///
        /// Except this property if the chain declares that its POSTs may be repeated, for example by `isIdempotent`.
        public static let aPostIsActedOnOnce = Self(rawValue: "aPostIsActedOnOnce")
        /// No call gets a response that was made for another account, or is sent with another account's credential.
        ///
        /// If the chain follows sign-ins (``World/onSignIn(_:)``), the account of a call is any that was signed in when the call
        /// began or while it ran.
        public static let accountsStayApart = Self(rawValue: "accountsStayApart")
        /// Each call gets the response to its method and URL, or to those that its redirects led to. Query items that the chain
        /// adds don't count. The chain may also move a request to another server or below another base path.
        public static let responsesBelongToTheirCalls = Self(rawValue: "responsesBelongToTheirCalls")
        /// No credential and no response of one seed occurs in another seed.
        public static let seedsShareNoState = Self(rawValue: "seedsShareNoState")
        /// A credential is sent to its own origin only.
        public static let secretsStayAtTheirOrigin = Self(rawValue: "secretsStayAtTheirOrigin")
        /// No error shows a credential.
        public static let secretsAreNotPrinted = Self(rawValue: "secretsAreNotPrinted")
        /// A buffered response has its content in memory.
        public static let aBufferedResponseStaysBuffered = Self(rawValue: "aBufferedResponseStaysBuffered")
    }

    /// A seed that broke a property.
    struct Failure: Error, CustomStringConvertible {
        let seed: Int
        let property: Property
        /// The calls' behavior, as a sentence.
        let observed: String
        let trace: [String]
        /// How often another thread took part.
        let otherThreadsCount: Int
        /// Whether the seed did the same when it was played again; `nil` if it wasn't.
        var isRepeated: Bool?

        var description: String {
            """
            Simulation: \(property): \(observed)
            Seed \(seed) repeats it: Simulation(seeds: \(seed)...\(seed)).\(repetition)
            \(trace.joined(separator: "\n"))
            """
        }

        private var repetition: String {
            let threads = otherThreadsCount > 0 ? " Other threads took part." : ""
            switch isRepeated {
            case true?: return " Played again, it did the same." + threads
            case false?:
                return " But played again, it did something else, because of state outside the closure, a clock of the"
                    + " system or another thread." + threads
            case nil: return threads
            }
        }

        func isSame(as other: Self?) -> Bool {
            other.map { ($0.property, $0.observed) == (property, observed) && $0.trace == trace } ?? false
        }
    }

    /// A simulation that passes whatever the chain does.
    struct NothingTested: Error, CustomStringConvertible {
        let description: String
    }
}
