internal import Interceptors

/// Makes the field `Cache-Status` (RFC 9211).
enum CacheStatus {
    static func field(_ outcome: CacheOutcome, _ timeToLive: Int64?) -> HTTPField {
        var status = TextBytes(capacity: 96)
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
        return field(status.text)
    }

    private static func field(_ text: String) -> HTTPField {
        HTTPField(name: .cacheStatus, trimmed: text, hasControl: false)
    }

    /// A fast path for a fresh hit, and for a 200 that was stored; `nil` for other outcomes.
    static func usual(_ outcome: CacheOutcome, _ timeToLive: Int64?) -> HTTPField? {
        if outcome.result == .hit, outcome.staleReason == nil, let timeToLive, timeToLive >= 0 {
            return field(hit(timeToLive))
        }
        guard outcome.result == .miss, outcome.forwardStatus == 200, outcome.staleReason == nil else { return nil }
        let isStored = outcome.storing == .stored || outcome.storing == .updated
        return switch outcome.forwardReason?.code {
        case .uriMiss: isStored ? storedNew : nil
        case .stale: isStored ? storedAnew : nil
        default: nil
        }
    }

    private static let storedNew = field("Interceptors; fwd=uri-miss; fwd-status=200; stored")
    private static let storedAnew = field("Interceptors; fwd=stale; fwd-status=200; stored")
    private static let hitText: StaticString = "Interceptors; hit; ttl="

    private static func hit(_ timeToLive: Int64) -> String {
        let length = hitText.utf8CodeUnitCount
        return String(unsafeUninitializedCapacity: length + 20) { text in
            _ = text.initialize(fromContentsOf: UnsafeBufferPointer(start: hitText.utf8Start, count: length))
            var (divisor, end) = (UInt64(1), length)
            while timeToLive.magnitude / divisor >= 10 { divisor *= 10 }
            while divisor > 0 {
                text[end] = UInt8(ascii: "0") + UInt8(timeToLive.magnitude / divisor % 10)
                divisor /= 10
                end += 1
            }
            return end
        }
    }
}
