#if os(Linux)
import Foundation
import Interceptors
import InterceptorsTestSupport
import Testing

/// The system's monitor, in a network namespace whose interfaces the test changes.
@Suite(.againstHanging) struct SystemNetworkPathTests {
    private static let ip = ["/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip", "/bin/ip"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }
    private static let unshare = "/usr/bin/unshare"

    /// The arguments with which this user may have a namespace with a pair of interfaces and IPv6; `nil` if there is no way.
    private static func namespace() async throws -> [String]? {
        guard let ip, FileManager.default.isExecutableFile(atPath: unshare) else { return nil }
        let changes = "link add one type veth peer name two\naddress add 2001:db8::7/64 dev one\n"
        for arguments in [["--net"], ["--map-root-user", "--net"]] {
            let trial = arguments + [ip, "-batch", "-"]
            if try await Command.run(unshare, trial, input: Data(changes.utf8)).status == 0 { return arguments }
        }
        return nil
    }

    @Test(
        .enabled("This system allows no network namespace, or lacks unshare or ip.") {
            // In CI, the test fails instead of being skipped.
            if ProcessInfo.processInfo.environment["CI"] != nil { return true }
            return try await namespace() != nil
        }
    )
    func thePathFollowsTheInterfacesAndReleasesItsSocket() async throws {
        let ip = try #require(Self.ip)
        let namespace = try #require(await Self.namespace())
        let program = try #require(Program.path(of: "InterceptorsNetworkProcess"))
        let result = try await Command.run(Self.unshare, namespace + [program, ip])
        #expect(
            result.text == """
                without netlink: unknown
                without interfaces: unsatisfied, sockets: 1
                shared: true
                10.9.8.7/24: sent after a wait: true
                without a carrier: unsatisfied
                2001:db8::7/64: sent after a wait: true
                without a carrier: unsatisfied
                sockets after the last user: 0

                """
        )
        #expect(result.status == 0, "\(result.complaint)")
    }
}
#endif
