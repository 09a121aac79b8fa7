internal import InterceptorsCore

/// Makes the field `Cache-Status` (RFC 9211).
enum CacheStatus {
    static func field(_ outcome: CacheOutcome, timeToLive: Int64? = nil) -> HTTPField {
        var text = "Interceptors"
        if outcome.result == .hit || (outcome.result == .stale && outcome.forwardReason == nil) {
            text += "; hit"
        } else if let reason = outcome.forwardReason {
            text += "; fwd=\(reason)"
            if let code = outcome.forwardStatus { text += "; fwd-status=\(code)" }
        }
        if let timeToLive { text += "; ttl=\(timeToLive)" }
        if outcome.storing == .stored || outcome.storing == .updated { text += "; stored" }
        if let reason = outcome.staleReason { text += "; detail=\(reason)" }
        if outcome.result == .unsatisfiable { text += "; detail=unsatisfiable" }
        return HTTPField(name: .cacheStatus, trimmed: text, hasControl: false)
    }
}
