internal import Foundation

/// The hosts that a TLS setting is for.
///
/// | pattern | matches |
/// | --- | --- |
/// | `api.example.com` | this host |
/// | `*.example.com` | its subdomains, at any depth, but not `example.com` |
/// | `.example.com` | `example.com` and its subdomains, at any depth |
/// | `*` | every host |
///
/// Letter case and a final dot don't matter, an international name may be written either way, and an IP address matches
/// only itself. Of several patterns that match a host, the most specific one holds, alone: the host itself, then the longest
/// of its parents, then `*`.
///
/// ```swift
/// let written: HostPattern = "*.example.com"
/// let read = try HostPattern(parsing: textFromTheServer)
/// ```
public struct HostPattern: Sendable, Hashable {
    let text: String
    /// Whether this is a pattern. Only a literal may be none: ``init(stringLiteral:)``.
    public let isValid: Bool

    /// Every host.
    public static let any = HostPattern(unchecked: "*")

    /// A pattern from text that is known at run time.
    ///
    /// - Throws: ``TLSConfigurationError`` with ``TLSConfigurationError/Code/invalidHost`` if it holds anything but a host, such
    ///   as a scheme or a port.
    public init(parsing text: String) throws {
        guard let pattern = Self(text: text) else { throw Self.invalid(text) }
        self = pattern
    }

    private init(unchecked text: String, isValid: Bool = true) {
        self.text = text
        self.isValid = isValid
    }

    private init?(text: String) {
        if text == "*" {
            self = .any
            return
        }
        let prefix = text.hasPrefix("*.") ? "*." : text.hasPrefix(".") ? "." : ""
        let host = Self.normalized(String(text.dropFirst(prefix.count)))
        guard Self.isHost(host), prefix.isEmpty || !Self.isAddress(host) else { return nil }
        self.init(unchecked: prefix + host)
    }

    /// A host in the one spelling in which hosts are compared.
    static func normalized(_ host: String) -> String {
        var host = host.lowercased()
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        if host.hasSuffix("."), host.count > 1 { host.removeLast() }
        if !host.utf8.allSatisfy({ $0 < 0x80 }) || host.contains("%") {
            // International names in ASCII, and percent-encoding undone.
            host = host.removingPercentEncoding ?? host
            host = URL(string: "https://\(host)")?.host(percentEncoded: false)?.lowercased() ?? host
        }
        return address(host) ?? host
    }

    /// An IP address in its usual form, since whoever connects takes others too: `127.1`, `0x7f.0.0.1` and `2130706433` are
    /// `127.0.0.1`.
    private static func address(_ host: String) -> String? {
        var text = [CChar](repeating: 0, count: 64)
        let isWritten: Bool
        if host.contains(":") {
            var bytes = in6_addr()
            guard inet_pton(AF_INET6, host, &bytes) == 1 else { return nil }
            isWritten = inet_ntop(AF_INET6, &bytes, &text, socklen_t(text.count)) != nil
        } else {
            var bytes = in_addr()
            guard host.first?.isNumber == true, host.utf8.allSatisfy({ $0 > 0x20 }), inet_aton(host, &bytes) != 0 else {
                return nil
            }
            isWritten = inet_ntop(AF_INET, &bytes, &text, socklen_t(text.count)) != nil
        }
        guard isWritten else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    static func isAddress(_ host: String) -> Bool {
        if host.contains(":") { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
    }

    private static func isHost(_ host: String) -> Bool {
        if host.contains(":") {
            return host.utf8.allSatisfy {
                $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") || Character(UnicodeScalar($0)).isHexDigit
            }
                && host.split(separator: ":", omittingEmptySubsequences: false).count > 2
        }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        return labels.allSatisfy { label in
            !label.isEmpty
                && label.unicodeScalars.allSatisfy {
                    $0 == "-" || $0 == "_" || $0.properties.isAlphabetic || $0.properties.numericType != nil
                }
        }
    }

    /// The patterns that match a host, the most specific one first.
    static func candidates(for host: String) -> [HostPattern] {
        var candidates = [HostPattern(unchecked: host)]
        if !isAddress(host) {
            candidates.append(HostPattern(unchecked: "." + host))
            var parent = host[...]
            while let dot = parent.firstIndex(of: ".") {
                parent = parent[parent.index(after: dot)...]
                candidates.append(HostPattern(unchecked: "*." + parent))
                candidates.append(HostPattern(unchecked: "." + parent))
            }
        }
        return candidates + [.any]
    }

    var literalError: TLSConfigurationError? { isValid ? nil : Self.invalid(text) }

    private static func invalid(_ text: String) -> TLSConfigurationError {
        TLSConfigurationError(
            .invalidHost,
            "\(String(reflecting: text)) is no host pattern: write a host without scheme and port, *.DOMAIN, .DOMAIN or *."
        )
    }
}

extension HostPattern: ExpressibleByStringLiteral, CustomStringConvertible, CustomDebugStringConvertible {
    /// A pattern written in code, in the form of ``init(parsing:)``.
    ///
    /// A literal in any other form makes a pattern that is not ``isValid`` and matches no host: a transport with such a
    /// pattern sends nothing, and each call fails with ``TransportError/Code/unsupported`` and the pattern's text. Swift uses
    /// this initialiser for `HostPattern("…")`, too (SE-0213).
    public init(stringLiteral text: String) {
        self = Self(text: text) ?? Self(unchecked: text, isValid: false)
    }

    /// The pattern, in lower case; an invalid one as it was written.
    public var description: String { text }

    /// The same as ``description``.
    public var debugDescription: String { text }
}
