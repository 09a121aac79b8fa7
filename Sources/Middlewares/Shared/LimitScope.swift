/// Which requests a limit counts together.
enum LimitScope: Sendable, Hashable {
    /// All of them, or those whose URL has no host to tell them by: no transport sends these.
    case all
    /// Those to one host, which is told by scheme, host and port.
    case origin(Origin)

    init(of request: borrowing HTTPRequest, isPerHost: Bool) {
        self = isPerHost ? Origin(request.url).map(Self.origin) ?? .all : .all
    }
}
