internal import Interceptors

/// One request on its way, and what was stored for it when it left.
struct CacheExchange: ~Copyable, Sendable {
    let request: HTTPRequest
    let key: CacheKey
    let forward: CachePolicy.Forward
    let entries: [CacheEntry]
    /// The generation that the key had by then; `nil` where the store was not asked, or failed.
    let generation: CacheGeneration?

    init(
        _ request: consuming HTTPRequest,
        _ key: CacheKey,
        _ forward: CachePolicy.Forward,
        _ entries: [CacheEntry],
        _ generation: CacheGeneration?
    ) {
        self.request = request
        self.key = key
        self.forward = forward
        self.entries = entries
        self.generation = generation
    }

    /// The request as it is sent. The response to another method is nobody else's.
    var outgoing: HTTPRequest {
        var outgoing = request
        if request.method == .get || request.method == .head { outgoing.shareResponse(by: "cache") }
        if !forward.fields.isEmpty { outgoing.headerFields.override(with: forward.fields) }
        return outgoing
    }

    func reception(
        of response: HTTPResponse,
        by policy: CachePolicy,
        _ timing: CachePolicy.Timing
    ) -> CachePolicy.Reception {
        policy.receive(response, to: request, forward, stored: entries, timing: timing)
    }

    func ids(_ indices: [Int]) -> [CacheEntry.ID] { indices.map { entries[$0].id } }

    /// The same without the entries of a variant, which a store replaces unasked: most often there are no others.
    func ids(_ indices: [Int], besides variant: HTTPFields) -> [CacheEntry.ID] {
        var ids: [CacheEntry.ID] = []
        for index in indices where entries[index].selectingFields != variant { ids.append(entries[index].id) }
        return ids
    }

    var selected: CacheEntry? { forward.selected.map { entries[$0] } }

    /// The same without the conditions of the cache.
    var unconditional: CacheExchange {
        var fields = forward.fields
        for name in [HTTPField.Name.ifNoneMatch, .ifModifiedSince] { fields.remove(name) }
        return CacheExchange(
            request,
            key,
            CachePolicy.Forward(reason: forward.reason, fields: fields),
            entries,
            generation
        )
    }
}
