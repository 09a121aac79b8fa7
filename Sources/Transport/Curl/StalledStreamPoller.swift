#if os(Linux)
/// Schedules polls for streams that may have stalled after a pause.
///
/// libcurl 7.88 may leave a resumed HTTP/2 stream without a flow-control window. Server and client then wait for each other
/// until libcurl runs again, so the loop polls: after 1 ms at first, then with doubled intervals, at last every second.
struct StalledStreamPoller {
    private static let longest: Int32 = 1000
    private var resumed: Set<ObjectIdentifier> = []
    private var milliseconds: Int32 = 1

    /// Polls for a transfer that resumes after a pause.
    mutating func begin(for transfer: CurlTransfer) {
        guard transfer.download != nil else { return }
        resumed.insert(ObjectIdentifier(transfer))
        milliseconds = 1
    }

    mutating func end(for transfer: CurlTransfer) {
        if !resumed.isEmpty { resumed.remove(ObjectIdentifier(transfer)) }
    }

    /// The longest wait for the network, in milliseconds; `nil` without a limit.
    mutating func next() -> Int32? {
        guard !resumed.isEmpty else { return nil }
        defer { milliseconds = min(Self.longest, milliseconds * 2) }
        return milliseconds
    }
}
#endif
