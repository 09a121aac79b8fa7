internal import InterceptorsCore

/// An address of one of a machine's network interfaces, as `getifaddrs` of Linux lists it.
struct InterfaceAddress: Sendable, Hashable {
    /// The interface's flags (`IFF_…`), which are part of Linux's binary interface.
    var flags: UInt32
    /// The four or sixteen bytes of the address; empty for an address that isn't one of the Internet.
    var bytes: [UInt8]

    private static let up: UInt32 = 0x1
    private static let loopback: UInt32 = 0x8
    private static let running: UInt32 = 0x40

    /// Whether packets with this address may get further than the machine and its link.
    var isRoutable: Bool {
        guard flags & (Self.up | Self.running | Self.loopback) == Self.up | Self.running else { return false }
        return switch bytes.count {
        // 0.0.0.0/8 (RFC 1122 §3.2.1.3), loopback, and link-local addresses (RFC 3927), which a machine chooses without a network.
        case 4: bytes[0] != 0 && bytes[0] != 127 && !(bytes[0] == 169 && bytes[1] == 254)
        // Link-local addresses (RFC 4291 §2.5.6), which each interface has; `::` and `::1`.
        case 16: !(bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80) && bytes.dropLast().contains { $0 != 0 }
        default: false
        }
    }

    /// The path of a machine with these addresses.
    static func path(of addresses: [InterfaceAddress]) -> NetworkPath {
        addresses.contains { $0.isRoutable } ? .satisfied : .unsatisfied
    }
}
