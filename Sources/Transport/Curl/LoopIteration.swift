#if os(Linux)
/// The state of one iteration of the loop, shared with libcurl's callbacks. Only the loop's thread uses it.
final class LoopIteration {
    let sockets: OpenSockets
    /// The loop's time, read once before and once after its wait. The callbacks, about a dozen for each response, use this
    /// value instead of the clock.
    var now: Duration = .zero
    /// Whether a transfer's deadline may now be earlier than all others: its response was complete before its request was
    /// sent, or it is a redirect to follow.
    var hasEarlierDeadline = false
    /// Downloads with bytes for a waiting reader, which are delivered after the iteration.
    var awaited: [CurlDownload] = []
    /// Transfers whose server responded before it had the whole request, and which should stop sending.
    var refused: [CurlTransfer] = []

    /// The transfers that have a connection, and the line of those that wait for one.
    var line: ConnectionLine<Origin?, CurlTransfer>

    init(sockets: OpenSockets, limits: CurlTransport.ConnectionLimits) {
        self.sockets = sockets
        line = ConnectionLine(limits)
    }

    func deliver() {
        if !awaited.isEmpty { awaited.removeAll { $0.deliverUnlessMoreComes() } }
    }

    func leaveLine(_ transfer: CurlTransfer) {
        if transfer.timeLimits.isInLine {
            line.giveUp(transfer, host: transfer.host)
        } else {
            line.leave(host: transfer.host, canShare: transfer.canShareConnection)
        }
    }

    func forget(_ transfer: CurlTransfer) {
        if !awaited.isEmpty { awaited.removeAll { $0 === transfer.download } }
        if !refused.isEmpty { refused.removeAll { $0 === transfer } }
    }
}
#endif
