internal import InterceptorsCore
internal import InterceptorsSyntax

extension CachePolicy {
    /// The age and the lifetime of a stored response, in seconds (RFC 9111 §4.2).
    struct Freshness: Equatable {
        let lifetime: Int64
        /// The age; `nil` if it is unknown, because the response arrived in the clock's future.
        let age: Int64?

        var isFresh: Bool { age.map { lifetime > $0 } ?? false }
        /// How far the age exceeds the lifetime; `nil` if the age is unknown.
        var staleness: Int64? { age.map { max(0, $0 - lifetime) } }
    }

    static func freshness(of response: CachedResponse, now: Int64) -> Freshness {
        Freshness(lifetime: response.facts.lifetime, age: age(of: response, now: now))
    }

    // current_age (§4.2.3)
    static func age(of response: CachedResponse, now: Int64) -> Int64? {
        let (resident, overflow) = now.subtractingReportingOverflow(response.responseTime)
        guard !overflow, resident >= 0, response.initialAge >= 0 else { return nil }
        return min(resident, .max / 4) + min(response.initialAge, .max / 4)
    }

    static func date(_ fields: HTTPFields, _ name: HTTPField.Name, now: Int64) -> Int64? {
        fields.first(name).flatMap { HTTPDate.parse($0, now: now) }
    }

    /// corrected_initial_age (§4.2.3), in seconds of the wall clock.
    static func initialAge(_ fields: HTTPFields, timing: Timing) -> Int64 {
        let date = date(fields, .date, now: timing.wallTime) ?? timing.wallTime
        return max(0, timing.wallTime - date, (DeltaSeconds.age(in: fields) ?? 0) + max(0, timing.delay))
    }

    /// When a response arrived.
    struct Timing: Equatable {
        /// On the cache's clock, which never goes back, in seconds since 1970.
        var responseTime: Int64
        /// On the wall clock, which is compared with the server's, in seconds since 1970.
        var wallTime: Int64
        /// How long the exchange took, in seconds.
        var delay: Int64
    }

    /// Whether a status may be stored without explicit permission (RFC 9110 §15.1), except 206.
    static func isHeuristicallyCacheable(_ status: HTTPResponse.Status) -> Bool {
        switch status.code {
        case 200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501: true
        default: false
        }
    }

    /// Whether this cache knows what a status means for caching (§5.2.2.3).
    static func isUnderstood(_ status: HTTPResponse.Status) -> Bool {
        switch status.code {
        case 200...205, 300...303, 307, 308, 400...405, 408...410, 412...417, 421, 422, 426, 500...505: true
        default: false
        }
    }
}
