internal import InterceptorsArchives
internal import InterceptorsSyntax

/// The `timings` of an entry in an HTTP Archive, in microseconds. `nil` is HAR's −1: unknown, or not part of this attempt.
///
/// `connect` includes `ssl`, as HAR 1.2 says, so that `time` is the sum of all others.
struct HARTimings: Equatable {
    var blocked, dns, connect, ssl: Int64?
    var send: Int64 = 0
    var wait: Int64 = 0
    var receive: Int64 = 0

    /// The sum, which is the entry's `time`.
    var time: Int64 { (blocked ?? 0) + (dns ?? 0) + (connect ?? 0) + send + wait + receive }

    /// The timings of an attempt.
    ///
    /// - Parameters:
    ///   - duration: the attempt's duration as its caller measured it; `nil` while it runs.
    ///   - timings: the transport's cumulative durations, if it measured them. The rest of `duration`, such as waiting for a
    ///     connection, counts as `blocked`.
    init(duration: Duration?, _ timings: TransferTimings?) {
        let whole = max(0, duration?.wholeMicroseconds ?? 0)
        guard let timings else {
            wait = whole
            return
        }
        let lookup = max(0, timings.nameLookup.wholeMicroseconds)
        let connected = max(lookup, timings.connect.wholeMicroseconds)
        let ready = max(connected, timings.tls.wholeMicroseconds)
        let first = max(ready, timings.firstByte.wholeMicroseconds)
        let total = max(first, timings.total.wholeMicroseconds)
        if timings.reusedConnection {
            blocked = ready
        } else {
            dns = lookup
            connect = ready - lookup
            ssl = timings.tls > .zero ? ready - connected : nil
        }
        wait = first - ready
        receive = total - first
        if whole > total { blocked = (blocked ?? 0) + whole - total }
    }

    var json: OrderedJSON {
        func optional(_ value: Int64?) -> OrderedJSON { value.map { .milliseconds(microseconds: $0) } ?? -1 }
        return [
            "blocked": optional(blocked), "dns": optional(dns), "connect": optional(connect),
            "send": .milliseconds(microseconds: send), "wait": .milliseconds(microseconds: wait),
            "receive": .milliseconds(microseconds: receive), "ssl": optional(ssl),
        ]
    }
}
