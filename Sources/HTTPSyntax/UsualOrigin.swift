/// The scheme, the host and the port of a URL in its usual spelling: `http` or `https` in lower case, no user, a host of lowercase
/// letters, digits, dots and hyphens, and perhaps a port.
///
/// Each request needs its origin several times, and nearly every URL has this spelling. Foundation's parser takes 0.5 µs, a
/// fourteenth of the realistic chain, and reads all other URLs. Public only because other modules of the package call it.
public struct UsualOrigin {
    /// Whether the scheme is `https`.
    public let isSecure: Bool
    /// The indices of the host.
    public let host: Range<Int>
    /// The port, from 1 to 65535. If the URL has none, the scheme's default.
    public let port: Int

    /// Reads the beginning of a URL; `nil` if it has another spelling.
    public init?(_ url: UnsafeBufferPointer<UInt8>) {
        guard let start = Self.hostStart(UnsafeRawBufferPointer(url)) else { return nil }
        var end = start
        while end < url.count, Self.isOfHost(url[end]) { end += 1 }
        guard end > start else { return nil }
        (isSecure, host) = (start == 8, start..<end)
        var port = 0
        if end < url.count, url[end] == UInt8(ascii: ":") {
            end += 1
            while end < url.count, ASCII.isDigit(url[end]), port <= 65_535 {
                port = port * 10 + Int(url[end] - UInt8(ascii: "0"))
                end += 1
            }
            guard 1...65_535 ~= port else { return nil }
        }
        guard end == url.count || Self.isAfterAuthority(url[end]) else { return nil }
        self.port = port > 0 ? port : isSecure ? 443 : 80
    }

    private static func hostStart(_ url: UnsafeRawBufferPointer) -> Int? {
        guard url.count >= 8 else { return nil }
        // Compares eight letters at once: comparing each takes a third of the time to make a cache's key.
        switch UInt64(bigEndian: url.loadUnaligned(as: UInt64.self)) {
        case 0x6874_7470_733A_2F2F: return 8  // https://
        case 0x6874_7470_3A2F_2F00...0x6874_7470_3A2F_2FFF: return 7  // http://, and a letter
        default: return nil
        }
    }

    private static func isOfHost(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10 || byte == UInt8(ascii: ".")
            || byte == UInt8(ascii: "-")
    }

    private static func isAfterAuthority(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }
}
