internal import HTTPSyntax
internal import Interceptors

/// What a private cache does, decided as RFC 9111 says, without doing it.
///
/// Times are seconds since 1970.
struct CachePolicy: Sendable, Equatable {
    /// The share of the time since the last modification for which a response is fresh that doesn't say (§4.2.2).
    var heuristicFraction = 0.1
    /// The longest such time, in seconds.
    var heuristicLimit: Int64 = 86_400
    /// The maximum staleness, in seconds, of a response that is served because the server can't be reached, without explicit
    /// permission (§4.2.4).
    var maximumStaleness: Int64 = 7 * 86_400
    /// What secrets that `Vary` names are compared by.
    var digest = FieldDigest.ofProcess

    /// What to do with a request.
    enum Decision: Equatable {
        case serve(Served)
        case forward(Forward)
        /// Answer 504: nothing may be sent, and nothing that is stored may be used (§5.2.1.7).
        case unsatisfiable
    }

    /// An answer from the store.
    struct Served: Equatable {
        /// Which of the stored responses.
        var index: Int
        var form: Form
        var age: Int64?
        var lifetime: Int64
        /// Why it is served although it is stale, `nil` for a fresh one.
        var stale: CacheOutcome.StaleReason?
        /// Fields that must not be served without validation (§5.2.2.4).
        var omitted: Set<String> = []
        /// Whether it is to be validated once it has been served (RFC 5861 §3).
        var isValidatedAfterwards = false
    }

    /// What of a stored response the request asks for.
    enum Form: Equatable {
        case full
        /// The fields alone, as an answer to HEAD.
        case head
        /// A 304: the caller has it already (§4.3.2).
        case notModified
        /// A 206.
        case partial(Range<Int64>)
        /// A 416.
        case unsatisfiableRange
    }

    /// A request on its way to the server.
    struct Forward: Equatable {
        var reason: CacheOutcome.ForwardReason
        /// The stored response that answers if the server confirms it, or can't be reached.
        var selected: Int?
        /// Fields to set on the request: those that make it conditional (§4.3.1), or pass the mode on.
        var fields = HTTPFields()
        /// Whether `fields` make it conditional.
        var isConditional: Bool { fields.contains(.ifNoneMatch) || fields.contains(.ifModifiedSince) }
    }

    /// What to do with a request, when `stored` is what there is for its key.
    func decide(_ request: HTTPRequest, stored: [CacheEntry], now: Int64) -> Decision {
        let mode = request.context.cacheMode
        let asksForMore = Self.mayAskForMore(request.headerFields)
        let constraints = asksForMore ? Constraints(request) : .none
        let sendsNothing = constraints.directives.onlyIfCached || mode.sendsNothing
        guard request.method == .get || request.method == .head else {
            return sendsNothing ? .unsatisfiable : .forward(Forward(reason: .method))
        }
        guard request.body.isEmpty, !asksForMore || !Self.isForTheServer(request.headerFields) else {
            return sendsNothing ? .unsatisfiable : .forward(Forward(reason: .bypass, fields: Self.fields(of: request)))
        }
        guard let index = select(from: stored, for: request) else {
            if sendsNothing { return .unsatisfiable }
            let reason: CacheOutcome.ForwardReason = stored.isEmpty ? .uriMiss : .varyMiss
            return .forward(Forward(reason: reason, fields: Self.fields(of: request)))
        }
        if mode == .reload, !sendsNothing {
            return .forward(Forward(reason: .request, selected: index, fields: Self.fields(of: request)))
        }
        let selected = stored[index]
        let freshness = freshness(of: selected.response, now: now)
        let use = use(selected.response, freshness, under: constraints, mode: mode)
        if let form = use.isAllowed ? Self.form(of: selected, for: request) : nil {
            return .serve(
                Served(
                    index: index,
                    form: form,
                    age: freshness.age,
                    lifetime: freshness.lifetime,
                    stale: freshness.isFresh ? nil : use.stale,
                    omitted: Self.omitted(selected.response),
                    // Where nothing may be sent, nothing is sent afterwards either.
                    isValidatedAfterwards: use.stale == .staleWhileRevalidate && !sendsNothing
                )
            )
        }
        if sendsNothing { return .unsatisfiable }
        let reason: CacheOutcome.ForwardReason = freshness.isFresh ? .request : .stale
        var fields = validation(of: selected, for: request)
        for field in Self.fields(of: request) { fields.append(field) }
        return .forward(Forward(reason: reason, selected: index, fields: fields))
    }

    // Whether there may be a directive, a condition or a range. Most requests have none of the fields that begin so, and a
    // look through them for each field in turn takes longer than the rest of a decision.
    static func mayAskForMore(_ fields: HTTPFields) -> Bool {
        // By the place, since a field that is handed to a closure is held anew.
        for place in fields.indices {
            switch fields[place].name.rawName.utf8.first.map(ASCII.lowercased) {
            case UInt8(ascii: "c"): if fields[place].name == .cacheControl { return true }
            case UInt8(ascii: "i"), UInt8(ascii: "p"), UInt8(ascii: "r"): return true
            default: break
            }
        }
        return false
    }

    // Preconditions that only an origin server may judge (§4.3.2), and ranges that are left to it.
    private static func isForTheServer(_ fields: HTTPFields) -> Bool {
        fields.contains(.ifMatch) || fields.contains(.ifUnmodifiedSince) || ByteRange.requested(in: fields) == .other
    }

    // The directives that the request's mode sends to other caches, unless the request has its own `Cache-Control`.
    private static func fields(of request: HTTPRequest) -> HTTPFields {
        let mode = request.context.cacheMode
        guard mode == .reload || mode == .revalidate, !request.headerFields.contains(.cacheControl) else { return [:] }
        return mode == .reload ? [.cacheControl: "no-cache", .pragma: "no-cache"] : [.cacheControl: "max-age=0"]
    }

    static func omitted(_ response: CachedResponse) -> Set<String> {
        guard case .fields(let names) = response.facts.directives.noCache else { return [] }
        return names
    }
}

extension CachePolicy {
    /// What a request demands of a stored response.
    struct Constraints {
        let directives: CacheControl
        /// Whether it must be validated: `no-cache`, `max-age=0`, or `Pragma` where there is no Cache-Control (§5.2.1.1,
        /// §5.2.1.4, §5.4).
        let demandsValidation: Bool

        /// Those of a request that demands nothing, as most.
        static let none = Constraints()

        private init() {
            directives = CacheControl()
            demandsValidation = false
        }

        init(_ request: HTTPRequest) {
            directives = CacheControl(request.headerFields)
            let pragma = request.headerFields[.pragma]
            let isPragma = pragma.map { CacheControl([.cacheControl: $0]).noCache != .absent } ?? false
            // An age in whole seconds is rounded down: nothing stored is younger than 0 seconds.
            demandsValidation =
                directives.noCache != .absent || (!directives.isPresent && isPragma) || directives.maxAge == .value(0)
        }

        /// Whether age and remaining freshness are such as the request wants them. What can't be read wants too much.
        func allow(_ freshness: Freshness) -> Bool {
            if directives.maxAge.isPresent {
                guard let limit = directives.maxAge.value, let age = freshness.age, age <= limit else { return false }
            }
            if directives.minFresh.isPresent {
                guard let least = directives.minFresh.value, let age = freshness.age,
                    freshness.lifetime - age >= least
                else { return false }
            }
            return true
        }

        /// Whether the request takes a response that is stale by so much (§5.2.1.2).
        func allowStale(_ freshness: Freshness) -> Bool {
            if directives.acceptsAnyStale { return true }
            guard let limit = directives.maxStale.value, let staleness = freshness.staleness else { return false }
            return staleness <= limit
        }

        var wantsFresh: Bool {
            directives.maxAge.isPresent || directives.minFresh.isPresent
        }
    }

    private func use(
        _ response: CachedResponse,
        _ freshness: Freshness,
        under constraints: Constraints,
        mode: CacheMode
    ) -> (isAllowed: Bool, stale: CacheOutcome.StaleReason?) {
        if mode == .offline { return (true, .offline) }
        let directives = response.facts.directives
        if response.needsValidation || directives.noCache == .whole || constraints.demandsValidation {
            return (false, nil)
        }
        if mode == .revalidate, !(directives.immutable && freshness.isFresh) { return (false, nil) }
        guard constraints.allow(freshness) else { return (false, nil) }
        if freshness.isFresh { return (true, nil) }
        guard !directives.mustRevalidate else { return (false, nil) }
        if constraints.allowStale(freshness) { return (true, .maxStale) }
        // Where what comes of the validation isn't stored, each request would be answered thus, and sent as well.
        if !constraints.wantsFresh, mode != .doNotStore, !constraints.directives.noStore,
            let window = directives.staleWhileRevalidate.value, let staleness = freshness.staleness, staleness <= window
        {
            return (true, .staleWhileRevalidate)
        }
        return (false, nil)
    }
}
