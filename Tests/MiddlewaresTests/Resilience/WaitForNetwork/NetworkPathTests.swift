import Foundation
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct NetworkPathTests {
    private static let cellular = NetworkPath(isSatisfied: true, isExpensive: true)
    private static let lowData = NetworkPath(isSatisfied: true, isConstrained: true)

    private static let cases: [(path: NetworkPath, requirements: NetworkRequirements, isAllowed: Bool)] = [
        (.satisfied, [], true),
        (.satisfied, [.notExpensive, .notConstrained], true),
        (.unknown, [.notExpensive, .notConstrained], true),
        (.unsatisfied, [], false),
        (cellular, [], true),
        (cellular, .notConstrained, true),
        (cellular, .notExpensive, false),
        (lowData, .notExpensive, true),
        (lowData, .notConstrained, false),
        (NetworkPath(isSatisfied: false, isExpensive: true), [], false),
    ]

    @Test func onlyAKnownLackOrAnExcludedNetworkIsWaitedOn() {
        for (path, requirements, isAllowed) in Self.cases {
            #expect(path.allows(requirements) == isAllowed, "\(path), \(requirements)")
        }
    }

    @Test(arguments: [
        ("https://localhost/", true), ("http://LOCALHOST.:8080/", true), ("http://api.localhost/", true),
        ("http://127.0.0.1:80/", true), ("http://127.9.8.7/", true), ("http://[::1]:8080/", true),
        ("http://0.0.0.0:8080/", true),
        ("https://localhost.example.com/", false), ("https://mylocalhost/", false),
        ("https://127.example.com/", false), ("https://128.0.0.1/", false), ("https://[::2]/", false),
        ("https://example.com/127.0.0.1", false), ("https://user@example.com#@127.0.0.1", false),
        ("file:///localhost", false),
    ])
    func onlyTheMachineItselfIsLoopback(text: String, isLoopback: Bool) throws {
        #expect(LoopbackHost.isHost(of: try url(text)) == isLoopback)
    }

    // The flags of `ip addr`: UP 0x1, BROADCAST 0x2, LOOPBACK 0x8, POINTOPOINT 0x10, RUNNING 0x40, MULTICAST 0x1000.
    private static let ethernet: UInt32 = 0x1043

    private static func six(_ first: UInt8, _ second: UInt8, _ last: UInt8) -> [UInt8] {
        [first, second] + [UInt8](repeating: 0, count: 13) + [last]
    }

    @Test(
        arguments: [
            (ethernet, [192, 168, 0, 7], true),
            (ethernet, [10, 0, 0, 1], true),
            (0x10D1, [100, 64, 0, 1], true),
            (ethernet, six(0x20, 0x01, 1), true),
            (ethernet, six(0xFD, 0x00, 1), true),
            // An interface that is down, or has no carrier.
            (0x1002, [192, 168, 0, 7], false),
            (0x1003, [192, 168, 0, 7], false),
            // The machine and its link.
            (0x49, [127, 0, 0, 1], false),
            (0x49, [10, 0, 0, 1], false),
            (ethernet, [127, 0, 0, 1], false),
            (ethernet, [169, 254, 10, 20], false),
            (ethernet, [0, 0, 0, 0], false),
            (ethernet, six(0xFE, 0x80, 1), false),
            (ethernet, six(0xFE, 0xBF, 1), false),
            (ethernet, six(0, 0, 0), false),
            (ethernet, six(0, 0, 1), false),
            // A hardware address.
            (ethernet, [], false),
        ] as [(UInt32, [UInt8], Bool)]
    )
    func anAddressBeyondTheLinkOnARunningInterfaceIsAPath(flags: UInt32, bytes: [UInt8], isRoutable: Bool) {
        let loopback = InterfaceAddress(flags: 0x49, bytes: [127, 0, 0, 1])
        let path = InterfaceAddress.path(of: [loopback, InterfaceAddress(flags: flags, bytes: bytes)])
        #expect(path == (isRoutable ? .satisfied : .unsatisfied))
    }

    @Test func aMachineWithoutAddressesHasNoPath() {
        #expect(InterfaceAddress.path(of: []) == .unsatisfied)
    }
}

@Suite(.againstHanging) struct PathWaitersTests {
    private var waiters = PathWaiters<String>(.unsatisfied)

    @Test mutating func aNewPathWakesAllThatItAllowsInTheOrderOfTheirArrival() {
        for name in ["a", "b", "c", "d"] { _ = waiters.join(name == "c" ? .notExpensive : [], name) }
        #expect(waiters.update(NetworkPath(isSatisfied: true, isExpensive: true)) == ["a", "b", "d"])
        #expect(waiters.count == 1)
        #expect(waiters.update(.unsatisfied) == [])
        #expect(waiters.update(.satisfied) == ["c"])
        #expect(waiters.count == 0)
    }

    @Test mutating func whatThePathAllowsHasNothingToWaitFor() {
        _ = waiters.update(NetworkPath(isSatisfied: true, isConstrained: true))
        #expect(waiters.join([], "a") == nil)
        #expect(waiters.join(.notConstrained, "b") != nil)
        #expect(waiters.count == 1)
    }

    @Test mutating func aWaiterLeavesOnce() throws {
        let first = waiters.join([], "a")
        let ticket = try #require(first)
        #expect(waiters.leave(ticket) == "a")
        #expect(waiters.leave(ticket) == nil)
        let second = waiters.join([], "b")
        let late = try #require(second)
        #expect(waiters.update(.satisfied) == ["b"])
        #expect(waiters.leave(late) == nil)
    }
}
