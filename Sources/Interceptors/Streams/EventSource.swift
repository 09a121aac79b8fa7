internal import Foundation
internal import Transport

/// The settings of an event stream, and how a connection to it is made.
struct EventSource: Sendable {
    static let mediaType = "text/event-stream"

    let client: Client
    let endpoint: any Endpoint
    /// Whether a verb made the endpoint, so that requests don't carry it.
    let isVerb: Bool
    let lastEventID: String
    let limit: Int
    let idleLimit: Duration?
    /// `nil` if a stream isn't continued over another connection.
    let reconnection: Reconnection?
    let time: TimeSource

    /// Sends a request for the events after an event. Returns `nil` if the server says that there are none.
    func connect(after lastEventID: String) async throws -> EventConnection? {
        var request = try await client.request(for: endpoint, isVerb: isVerb)
        request.headerFields.addMissing([.accept: Self.mediaType, .cacheControl: "no-cache, no-store"])
        if !lastEventID.isEmpty { request.headerFields["Last-Event-ID"] = lastEventID }
        request.context.responseBody = .streamed
        request.context.isLiveStream = true
        var timeouts = request.context.timeouts ?? Timeouts()
        timeouts.idle = idleLimit
        request.context.timeouts = timeouts
        let sent = request
        let response = try await client.send(request)
        guard response.status != 204 else {
            response.body.discard()
            return nil
        }
        let decoding = ResponseDecoding(decoder: client.decoder, method: sent.method, url: sent.url)
        try await decoding.checkStatus(of: response, as: ServerSentEvent.self)
        try await decoding.checkMediaType(of: response, as: ServerSentEvent.self, Self.mediaType)
        return EventConnection(response.body, limit: limit, lastEventID: lastEventID, request: sent)
    }
}
