internal import Interceptors

/// One event of a stream of the type `text/event-stream` (HTML Living Standard §9.2).
public struct ServerSentEvent: Sendable, Hashable {
    /// The type, from the field `event`. `message` if the server names none.
    public var type: String
    /// The content: the values of the event's `data` fields, joined by LF.
    public var data: String
    /// The last event ID: the value of the field `id` in this event or, if it has none, in the latest event that has one. Empty
    /// if no event had an ID.
    ///
    /// To continue after this event later, even in another process, pass the ID as `after:`.
    public var id: String
    /// The reconnection time from the server's latest `retry` field, in this event or earlier, also on an earlier connection.
    public var retry: Duration?

    /// Creates an event, as for a test.
    public init(type: String = "message", data: String, id: String = "", retry: Duration? = nil) {
        self.type = type
        self.data = data
        self.id = id
        self.retry = retry
    }
}
