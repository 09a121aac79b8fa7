/// The group of requests that a limit counts together.
enum LimitScope: Sendable, Hashable {
    /// All requests, or those whose URL has no host. No transport sends the latter.
    case all
    /// Requests to one origin: scheme, host and port.
    case origin(Origin)

    init(of request: borrowing HTTPRequest, isPerHost: Bool) {
        self = isPerHost ? Origin(request.url).map(Self.origin) ?? .all : .all
    }
}
