internal import InterceptorsCore

/// A request that the cache forwards, and the entries that were stored for it before.
struct CacheExchange: ~Copyable, Sendable {
    let request: HTTPRequest
    let key: CacheKey
    let forward: CachePolicy.Forward
    let entries: [CacheEntry]
    /// The key's generation at that time; `nil` if the store wasn't asked, or failed.
    let generation: CacheGeneration?
    /// The time just before the request is sent.
    let start: CacheTime.Reading

    init(
        _ request: consuming HTTPRequest,
        _ key: CacheKey,
        _ forward: CachePolicy.Forward,
        _ entries: [CacheEntry],
        _ generation: CacheGeneration?,
        at start: CacheTime.Reading
    ) {
        self.request = request
        self.key = key
        self.forward = forward
        self.entries = entries
        self.generation = generation
        self.start = start
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
    func unconditional(at start: CacheTime.Reading) -> CacheExchange {
        var fields = forward.fields
        for name in [HTTPField.Name.ifNoneMatch, .ifModifiedSince] { fields.remove(name) }
        return CacheExchange(
            request,
            key,
            CachePolicy.Forward(reason: forward.reason, fields: fields),
            entries,
            generation,
            at: start
        )
    }
}
