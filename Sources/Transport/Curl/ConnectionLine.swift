#if os(Linux)
/// The transfers that have a connection or may make one, and the line of those that wait for their turn.
///
/// libcurl has such a line too, but doesn't say which transfers wait in it, and a connection that becomes free there lets only
/// the first try again, whatever its host. So the loop passes no more transfers to libcurl than can have a connection. A
/// transfer's time limits then know whether it waits for this transport or for the server.
struct ConnectionLine<Key: Hashable, Member: AnyObject> {
    private struct Waiting {
        let ticket: UInt64
        let member: Member
        let canShare: Bool
    }

    private struct Host {
        /// Members with a connection each.
        var alone = 0
        /// Members that share a connection if the server speaks HTTP/2, and have a connection each otherwise.
        var sharing = 0
        var isMultiplexed = false
        var waiting: [Waiting] = []

        var connections: Int {
            let most = ConnectionLine.mostSharing
            return alone + (isMultiplexed ? (sharing + most - 1) / most : sharing)
        }

        /// Whether another member can share a connection that others use.
        var canJoin: Bool { isMultiplexed && !sharing.isMultiple(of: ConnectionLine.mostSharing) }
        var isUnused: Bool { alone + sharing == 0 && waiting.isEmpty }
    }

    /// The most members that share a connection. Servers limit the streams of a connection, usually to 100 or more, and libcurl
    /// keeps the surplus in its own line.
    private static var mostSharing: Int { 100 }

    private let limits: CurlTransport.ConnectionLimits
    private var hosts: [Key: Host] = [:]
    private var connections = 0
    private var waitingCount = 0
    private var nextTicket: UInt64 = 0

    init(_ limits: CurlTransport.ConnectionLimits) { self.limits = limits }

    /// Adds a member. Returns whether it has its turn; otherwise it waits until ``next()`` returns it.
    mutating func enter(_ member: Member, host: Key, canShare: Bool) -> Bool {
        if waitingCount == 0, hasRoom(hosts[host], canShare: canShare) {
            count(1, host: host, canShare: canShare)
            return true
        }
        let waiting = Waiting(ticket: nextTicket, member: member, canShare: canShare)
        hosts[host, default: Host()].waiting.append(waiting)
        (nextTicket, waitingCount) = (nextTicket + 1, waitingCount + 1)
        return false
    }

    /// Removes a member that had its turn.
    mutating func leave(host: Key, canShare: Bool) { count(-1, host: host, canShare: canShare) }

    /// Removes a member that waits.
    mutating func giveUp(_ member: Member, host: Key) {
        guard let index = hosts[host]?.waiting.firstIndex(where: { $0.member === member }) else { return }
        waitingCount -= 1
        change(host) { $0.waiting.remove(at: index) }
    }

    /// Records that a host speaks HTTP/2, so that members can share a connection to it.
    mutating func noteMultiplexing(host: Key) {
        guard hosts[host]?.isMultiplexed == false else { return }
        change(host) { $0.isMultiplexed = true }
    }

    /// Removes and returns the waiting member whose turn has come: the one that has waited longest among the hosts with room.
    mutating func next() -> Member? {
        guard waitingCount > 0 else { return nil }
        var best: (host: Key, index: Int, ticket: UInt64)?
        for (name, host) in hosts {
            guard let index = firstWithRoom(in: host) else { continue }
            let ticket = host.waiting[index].ticket
            if best.map({ ticket < $0.ticket }) ?? true { best = (name, index, ticket) }
        }
        guard let best else { return nil }
        waitingCount -= 1
        var member: Member?
        change(best.host) { host in
            let taken = host.waiting.remove(at: best.index)
            if taken.canShare { host.sharing += 1 } else { host.alone += 1 }
            member = taken.member
        }
        return member
    }

    private func firstWithRoom(in host: Host) -> Int? {
        guard let first = host.waiting.first else { return nil }
        if hasRoom(host, canShare: first.canShare) { return 0 }
        return hasRoom(host, canShare: true) ? host.waiting.firstIndex(where: \.canShare) : nil
    }

    private func hasRoom(_ host: Host?, canShare: Bool) -> Bool {
        if let host, canShare, host.canJoin { return true }
        func allows(_ limit: Int, _ count: Int) -> Bool { limit <= 0 || count < limit }
        return allows(limits.perHost, host?.connections ?? 0) && allows(limits.total, connections)
    }

    private mutating func count(_ step: Int, host: Key, canShare: Bool) {
        change(host) { if canShare { $0.sharing += step } else { $0.alone += step } }
    }

    private mutating func change(_ name: Key, _ change: (inout Host) -> Void) {
        var host = hosts.removeValue(forKey: name) ?? Host()
        let before = host.connections
        change(&host)
        connections += host.connections - before
        // A host without members is forgotten, so that the memory is limited.
        if !host.isUnused { hosts[name] = host }
    }
}
#endif
