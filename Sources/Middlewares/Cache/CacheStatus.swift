internal import InterceptorsCore

/// Makes the field `Cache-Status` (RFC 9211).
enum CacheStatus {
    static func field(_ outcome: CacheOutcome, timeToLive: Int64? = nil) -> HTTPField {
        let text = TextBytes.making { status in
            status.append("Interceptors")
            if outcome.result == .hit || (outcome.result == .stale && outcome.forwardReason == nil) {
                status.append("; hit")
            } else if let reason = outcome.forwardReason {
                status.append("; fwd=")
                status.append(reason.description)
                if let code = outcome.forwardStatus {
                    status.append("; fwd-status=")
                    status.append(UInt64(code))
                }
            }
            if let timeToLive {
                status.append(timeToLive < 0 ? "; ttl=-" : "; ttl=")
                status.append(timeToLive.magnitude)
            }
            if outcome.storing == .stored || outcome.storing == .updated { status.append("; stored") }
            if let reason = outcome.staleReason {
                status.append("; detail=")
                status.append(reason.description)
            }
            if outcome.result == .unsatisfiable { status.append("; detail=unsatisfiable") }
        }
        return HTTPField(name: .cacheStatus, trimmed: text, hasControl: false)
    }
}
