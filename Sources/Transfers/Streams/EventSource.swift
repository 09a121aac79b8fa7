internal import Foundation
internal import Interceptors

/// The settings of an event stream, and how a connection to it is made.
struct EventSource: Sendable {
    static let mediaType = "text/event-stream"
    /// Successes that RFC 9110 defines without content, or with a part of it (§15.3.6, §15.3.7).
    private static let withoutStream: Set<HTTPResponse.Status> = [205, 206]
    /// Servers limit the length of a field, often to 8 KiB for all fields of a request.
    private static let longestID = 4 << 10

    let client: Client
    let request: @Sendable () async throws -> HTTPRequest
    let lastEventID: String
    let limit: Int
    let idleLimit: Duration?
    /// `nil` if a stream isn't continued over another connection.
    let reconnection: Reconnection?
    let time: TimeSource

    /// Sends a request for the events after an event. Returns `nil` after a 204, which ends the stream.
    ///
    /// - Parameters:
    ///   - retry: the server's reconnection time, if it has sent one.
    ///   - number: the number of the call, the same for each connection.
    func connect(after lastEventID: String, retry: Duration?, _ number: CallNumber) async throws -> EventConnection? {
        var request = try await self.request()
        request.headerFields.addMissing([.accept: Self.mediaType, .cacheControl: "no-cache, no-store"])
        if let field = Self.field(lastEventID) { request.headerFields[.lastEventID] = field.value }
        request.context.responseBody = .streamed
        request.context.callShape = .liveStream
        request.context.callShape.call = number
        var timeouts = request.context.timeouts ?? Timeouts()
        timeouts.idle = idleLimit
        // A stream has no expected end, so a limit that all other calls share would only break each connection.
        timeouts.total = nil
        request.context.timeouts = timeouts
        let sent = request
        let response = try await client.send(request)
        guard response.status != 204 else {
            response.body.discard()
            return nil
        }
        let decoding = ResponseDecoding(decoder: client.decoder, method: sent.method, url: sent.url)
        try await decoding.checkStatus(of: response, as: ServerSentEvent.self, except: Self.withoutStream)
        try await decoding.checkMediaType(of: response, as: ServerSentEvent.self, Self.mediaType)
        let parser = EventStreamParser(limit: limit, lastEventID: lastEventID, retry: retry)
        return EventConnection(response.body, parser: parser, request: sent, time: time)
    }

    /// The field for an event ID; `nil` if there is no ID, or no field that servers accept can hold it.
    private static func field(_ id: String) -> HTTPField? {
        guard !id.isEmpty, id.utf8.count <= longestID else { return nil }
        return HTTPField(name: .lastEventID, value: id)
    }
}
