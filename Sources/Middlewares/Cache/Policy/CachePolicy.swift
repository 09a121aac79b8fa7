internal import InterceptorsCore
internal import InterceptorsSyntax

/// The decisions of a private cache (RFC 9111), as pure functions without I/O. ``CacheInterceptor`` carries them out.
///
/// Times are in seconds since 1970.
struct CachePolicy: Sendable {
    /// The maximum staleness, in seconds, of a response that is served because the server can't be reached, without explicit
    /// permission (§4.2.4).
    var maximumStaleness: Int64 = 7 * 86_400
    /// Replaces secret values of fields that `Vary` names: they are stored and compared as digests.
    var digest = FieldDigest.ofProcess

    /// The handling of a request.
    enum Decision: Equatable {
        case serve(Served)
        case forward(Forward)
        /// Respond with 504: nothing may be sent, and nothing stored may be used (§5.2.1.7).
        case unsatisfiable
    }

    /// A response from the store.
    struct Served: Equatable {
        /// The index of the stored response.
        var index: Int
        var form: Form
        var freshness: Freshness
        /// Why it is served although it is stale; `nil` if it is fresh.
        var stale: CacheOutcome.Reason?
        /// Whether to validate it in the background after it has been served (RFC 5861 §3).
        var isValidatedAfterwards = false
    }

    /// The form in which a stored response is served.
    enum Form: Equatable {
        case full
        /// The fields without the body, in response to HEAD.
        case head
        /// A 304, because the caller already has the response (§4.3.2).
        case notModified
        /// A 206 with a range of the body.
        case partial(Range<Int64>)
        /// A 416, because the range is outside the body.
        case unsatisfiableRange
    }

    /// A request that is sent to the server.
    struct Forward: Equatable {
        var reason: CacheOutcome.Reason
        /// The index of the stored response to serve if the server confirms it or can't be reached.
        var selected: Int?
        /// The fields to set on the request: conditions (§4.3.1), or directives for other caches.
        var fields = HTTPFields()
        /// Whether `fields` make the request conditional.
        var isConditional: Bool { fields.contains(.ifNoneMatch) || fields.contains(.ifModifiedSince) }
    }

    /// Decides what to do with a request, given the entries that are stored for its key.
    func decide(_ request: HTTPRequest, stored: [CacheEntry], now: Int64) -> Decision {
        let mode = request.context.cacheMode
        let constraints = Constraints(request)
        let sendsNothing = constraints.directives.onlyIfCached || mode.sendsNothing
        func forward(_ reason: CacheOutcome.Reason, _ fields: HTTPFields, _ selected: Int? = nil) -> Decision {
            sendsNothing ? .unsatisfiable : .forward(Forward(reason: reason, selected: selected, fields: fields))
        }
        guard request.method == .get || request.method == .head else { return forward(.method, [:]) }
        let own = Self.fields(of: request)
        guard request.body.isEmpty, !Self.isForTheServer(request.headers) else { return forward(.bypass, own) }
        guard let index = select(from: stored, for: request) else {
            return forward(stored.isEmpty ? .uriMiss : .varyMiss, own)
        }
        let selected = stored[index]
        if mode == .reload, !sendsNothing { return forward(.request, own, index) }
        let freshness = Self.freshness(of: selected.response, now: now)
        let use = use(selected.response, freshness, under: constraints, mode: mode)
        if use.isAllowed {
            return .serve(
                Served(
                    index: index,
                    form: Self.form(of: selected, for: request),
                    freshness: freshness,
                    stale: freshness.isFresh ? nil : use.stale,
                    // The stale response is served either way. Its validation is skipped if the request forbids sending.
                    isValidatedAfterwards: use.stale == .staleWhileRevalidate && !sendsNothing
                )
            )
        }
        let conditions = sendsNothing ? [:] : validation(of: selected, for: request)
        return forward(freshness.isFresh ? .request : .stale, HTTPFields(Array(conditions) + own), index)
    }

    // Preconditions that only an origin server may evaluate (§4.3.2), and ranges that are left to the server.
    private static func isForTheServer(_ fields: HTTPFields) -> Bool {
        fields.contains(.ifMatch) || fields.contains(.ifUnmodifiedSince) || ByteRange.requested(in: fields) == .other
    }

    // The directives that the request's mode sends to other caches, unless the request has a `Cache-Control` field.
    static func fields(of request: HTTPRequest) -> HTTPFields {
        let mode = request.context.cacheMode
        guard mode == .reload || mode == .revalidate, !request.headers.contains(.cacheControl) else { return [:] }
        return mode == .reload ? [.cacheControl: "no-cache", .pragma: "no-cache"] : [.cacheControl: "max-age=0"]
    }
}

extension CachePolicy {
    /// The demands of a request on a stored response.
    struct Constraints {
        let directives: CacheControl
        /// Whether the request demands validation: `no-cache`, `max-age=0`, or `Pragma: no-cache` without `Cache-Control`
        /// (§5.2.1.1, §5.2.1.4, §5.4).
        let demandsValidation: Bool

        init(_ request: HTTPRequest) {
            directives = CacheControl(request.headers)
            let pragma = request.headers[.pragma]
            let isPragma = pragma.map { CacheControl([.cacheControl: $0]).noCache } ?? false
            // An age of less than a second counts as 0 seconds, so `max-age=0` would otherwise accept it.
            demandsValidation =
                directives.noCache || (!directives.isPresent && isPragma) || directives.maxAge == .value(0)
        }

        /// Whether the age and the remaining lifetime satisfy the request. A malformed directive is never satisfied.
        func allow(_ freshness: Freshness) -> Bool {
            if directives.maxAge.isPresent, !directives.maxAge.isAtLeast(freshness.age) { return false }
            guard let least = directives.minFresh.value, let age = freshness.age else {
                return !directives.minFresh.isPresent
            }
            return freshness.lifetime - age >= least
        }

        /// Whether the request accepts a response of this staleness (§5.2.1.2).
        func allowStale(_ freshness: Freshness) -> Bool {
            directives.acceptsAnyStale || directives.maxStale.isAtLeast(freshness.staleness)
        }
    }

    private func use(
        _ response: CachedResponse,
        _ freshness: Freshness,
        under constraints: Constraints,
        mode: CacheMode
    ) -> (isAllowed: Bool, stale: CacheOutcome.Reason?) {
        if mode == .offline { return (true, .offline) }
        let directives = response.facts.directives
        if response.needsValidation || directives.noCache || constraints.demandsValidation { return (false, nil) }
        if mode == .revalidate, !(directives.immutable && freshness.isFresh) { return (false, nil) }
        guard constraints.allow(freshness) else { return (false, nil) }
        if freshness.isFresh { return (true, nil) }
        guard !directives.mustRevalidate else { return (false, nil) }
        if constraints.allowStale(freshness) { return (true, .maxStale) }
        // If the result of the validation can't be stored, every request would be served stale and also sent to the server.
        if !constraints.directives.maxAge.isPresent, !constraints.directives.minFresh.isPresent, mode != .doNotStore,
            !constraints.directives.noStore, directives.staleWhileRevalidate.isAtLeast(freshness.staleness)
        {
            return (true, .staleWhileRevalidate)
        }
        return (false, nil)
    }
}
