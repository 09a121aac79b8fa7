internal import InterceptorsCore

/// A request in the cache, and the entries that are stored for it.
struct CacheExchange: Sendable {
    var request: HTTPRequest
    let key: CacheKey
    var entries: [CacheEntry] = []
    /// The key's generation at that time; `nil` if the store wasn't asked, or failed.
    var generation: UInt64?
    let next: Next
    /// The way of sending the request, once that is decided.
    var forward = CachePolicy.Forward(reason: .uriMiss)

    /// The request to forward. A GET or HEAD declares that its response may be served to other requests of the partition.
    var outgoing: HTTPRequest {
        var outgoing = request
        if request.method == .get || request.method == .head { outgoing.shareResponse(by: "cache") }
        if !forward.fields.isEmpty { outgoing.headers.override(with: forward.fields) }
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
