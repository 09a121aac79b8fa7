internal import InterceptorsCore

/// A request that the cache forwards, and the entries that were stored for it before.
struct CacheExchange: Sendable {
    let request: HTTPRequest
    let key: CacheKey
    private(set) var forward: CachePolicy.Forward
    let entries: [CacheEntry]
    /// The key's generation at that time; `nil` if the store wasn't asked, or failed.
    let generation: CacheGeneration?
    let ticket: CacheArrivals.Ticket
    let next: Next

    init(
        _ request: HTTPRequest,
        _ key: CacheKey,
        _ forward: CachePolicy.Forward,
        _ entries: [CacheEntry],
        _ generation: CacheGeneration?,
        through cache: CacheInterceptor,
        _ next: Next
    ) {
        self.request = request
        self.key = key
        self.forward = forward
        self.entries = entries
        self.generation = generation
        ticket = cache.arrivals.issueTicket(for: key)
        self.next = next
    }

    /// The request to forward. A GET or HEAD declares that its response may be served to other requests of the partition.
    var outgoing: HTTPRequest {
        var outgoing = request
        if request.method == .get || request.method == .head { outgoing.shareResponse(by: "cache") }
        if !forward.fields.isEmpty { outgoing.headerFields.override(with: forward.fields) }
        return outgoing
    }

    func ids(_ indices: [Int]) -> [CacheEntry.ID] { indices.map { entries[$0].id } }

    var selected: CacheEntry? { forward.selected.map { entries[$0] } }

    /// The exchange without the conditions that the cache added.
    var unconditional: CacheExchange {
        var copy = self
        copy.forward.selected = nil
        for name in [HTTPField.Name.ifNoneMatch, .ifModifiedSince] { copy.forward.fields.remove(name) }
        return copy
    }
}
