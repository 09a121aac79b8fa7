public import Foundation

/// One call in a ``Journal``: what each interceptor received, changed and decided, and what went over the wire.
///
/// A call is a tree of steps. The first step is the outermost interceptor; the steps below a step are the runs of the rest of the
/// chain that it started, such as the attempts of `retry`. A step of the transport has no steps below.
///
/// All text is redacted as the journal's `Redaction` says.
public struct JournalCall: Sendable, Hashable, Identifiable {
    /// The call's number in its journal, from 1, in the order in which calls began.
    public let id: Int
    /// The wall clock's time at which the call began.
    public let startedAt: Date
    /// The number of the call that this call was made for, such as the one whose 401 began a refresh, or whose request is sent
    /// again; `nil` for the app's other calls.
    public internal(set) var parentID: Int?
    /// The outermost step. `nil` if nothing of the call fitted into the journal's limit.
    public let root: Step?
    /// The number of steps, notes and fields that didn't fit into the journal's limit of bytes per call.
    public internal(set) var omittedCount = 0

    /// One run of one element of the chain.
    public struct Step: Sendable, Hashable {
        /// The element's name as a chain spells it, such as `retry`, or the transport's type, such as `CurlTransport`.
        public let name: String
        /// Whether the step is the transport: an attempt that left the chain.
        public internal(set) var isTransport = false
        /// The time from the call's begin to the step's begin.
        public let start: Duration
        /// The time from the step's begin to its outcome; `nil` while the step runs.
        public var duration: Duration?
        /// The request as it arrived at this step.
        public let request: Message
        /// The response as it left this step, with the step's status; `nil` while the step runs, or if it threw.
        public var response: Message?
        /// The error that left this step, in redacted form: its type, the code of an `HTTPError`, and its message, such as
        /// `TransportError.timedOut: The server took too long.`, or ``JournalCall/cancelled``. `nil` if the step returned a
        /// response, or still runs.
        public var error: String?
        /// The durations of the exchange's steps, if the transport measured them. Only on a transport's step.
        public var timings: TransferTimings?
        /// The HTTP version of the response, such as `HTTP/2`, if the transport knows it. Only on a transport's step.
        public var httpVersion: String?
        /// The IP address of the connection's peer, if the transport knows it. Only on a transport's step.
        public var remoteAddress: String?
        /// The port of the connection's peer, if the transport knows it. Only on a transport's step.
        public var remotePort: Int?
        /// The reasons for the step's decisions, in the order in which it noted them.
        public var notes: [CallNote] = []
        /// For each note, the number of ``steps`` that had begun before it.
        public var noteIndices: [Int] = []
        /// The runs of the rest of the chain that this step started, in the order in which they began.
        public var steps: [Step] = []
    }

    /// The head of a request or a response, and what is known of its body.
    public struct Message: Sendable, Hashable {
        /// The request's method; `nil` on a response.
        public var method: String?
        /// The redacted URL.
        public var url: String?
        /// The response's status code; `nil` on a request.
        public var status: Int?
        /// The fields in their order, with redacted values.
        public var fields: HTTPFields = [:]
        /// The kind and size of the body, and its content as far as it was kept.
        public var body = Body()
        /// Whether only the status of a response was kept, because the call had used up its room. Its fields and its body aren't
        /// known.
        public var isCut = false
    }

    /// The kind and size of a body, and its content as far as it was kept. A stream's content is never read for the journal.
    public struct Body: Sendable, Hashable {
        /// Whether the content is a stream: then only its size is known.
        public var isStream = false
        /// The number of bytes; for a stream, those that were read; `nil` while unknown.
        public var size: Int64? = 0
        /// The content as redacted text, up to the journal's limit; `nil` for a stream, for bytes that are no text, or if the
        /// journal keeps no bodies.
        public var text: String?
        /// Whether `text` is only the beginning of the content.
        public var isCut = false
    }

    /// The ``Step/error`` of a step that was cancelled.
    public static let cancelled = "cancelled"
}

extension JournalCall {
    /// The time from the call's begin to its response (for a stream: to its head) or error; `nil` while it runs.
    public var duration: Duration? { root?.duration }

    /// The transport's steps: what went over the wire, in the order in which they began.
    public var attempts: [Step] {
        func attempts(of step: Step) -> [Step] { step.isTransport ? [step] : step.steps.flatMap(attempts) }
        return root.map(attempts) ?? []
    }
}
