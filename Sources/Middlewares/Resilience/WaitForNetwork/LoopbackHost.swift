internal import Foundation
internal import InterceptorsCore

/// Tells the hosts that are the machine itself, which requests reach without a network.
enum LoopbackHost {
    /// Whether a URL's host is `localhost` or a name in it (RFC 6761 §6.3), `127.0.0.0/8`, `::1`, or `0.0.0.0`,
    /// which connects to the machine itself.
    static func isHost(of url: URL) -> Bool { Origin(url).map { isLoopback($0.host) } ?? false }

    /// Whether a host is the machine itself.
    ///
    /// - Parameter host: the host in lower case, IPv6 addresses in brackets.
    static func isLoopback(_ host: String) -> Bool {
        let host = host.hasSuffix(".") ? host.dropLast() : host[...]
        return host == "localhost" || host.hasSuffix(".localhost") || host == "[::1]" || host == "0.0.0.0"
            || host.hasPrefix("127.") && host.utf8.allSatisfy { 0x30...0x39 ~= $0 || $0 == UInt8(ascii: ".") }
    }
}
