internal import Foundation

/// The hosts that a TLS setting applies to.
///
/// | pattern | matches |
/// | --- | --- |
/// | `api.example.com` | this host |
/// | `*.example.com` | its subdomains, at any depth, but not `example.com` |
/// | `.example.com` | `example.com` and its subdomains, at any depth |
/// | `*` | every host |
///
/// Letter case and a trailing dot are ignored, an international name may use either form, and an IP address matches only
/// itself. If several patterns match a host, only the most specific applies: the host itself, then its longest parent domain,
/// then `*`.
///
/// ```swift
/// let written: HostPattern = "*.example.com"
/// let read = try HostPattern(parsing: textFromTheServer)
/// ```
public struct HostPattern: Sendable, Hashable {
    let text: String
    /// Whether the pattern is valid. Only a literal can be invalid: see ``init(stringLiteral:)``.
    public let isValid: Bool

    /// Matches every host.
    public static let any = HostPattern(unchecked: "*")

    /// Creates a pattern from text known at run time.
    ///
    /// - Throws: ``TransportError`` with ``HTTPErrorCode/invalidHostPattern`` if the text contains anything but a
    ///   host pattern, such as a scheme or a port.
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

    /// A host in the normal form used for comparison.
    static func normalized(_ host: String) -> String {
        var host = host.lowercased()
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        if host.hasSuffix("."), host.count > 1 { host.removeLast() }
        if !host.utf8.allSatisfy({ $0 < 0x80 }) || host.contains("%") {
            // Converts international names to ASCII and removes percent-encoding.
            host = host.removingPercentEncoding ?? host
            host = URL(string: "https://\(host)")?.host(percentEncoded: false)?.lowercased() ?? host
        }
        return address(host) ?? host
    }

    /// An IP address in its usual form. Connecting accepts other forms too: `127.1`, `0x7f.0.0.1` and `2130706433` all mean
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

    /// The patterns that match a host, most specific first.
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

    var literalError: TransportError? { isValid ? nil : Self.invalid(text) }

    private static func invalid(_ text: String) -> TransportError {
        TransportError(
            .invalidHostPattern,
            "\(String(reflecting: text)) is no host pattern: write a host without scheme and port, *.DOMAIN, .DOMAIN or *."
        )
    }
}

extension HostPattern: ExpressibleByStringLiteral, CustomStringConvertible {
    /// Creates a pattern from a literal in the form of ``init(parsing:)``.
    ///
    /// A literal in another form creates a pattern that isn't ``isValid`` and matches no host. A transport with such a pattern
    /// sends nothing, and each call fails with ``HTTPErrorCode/unsupported`` and the pattern's text. Swift also uses this
    /// initializer for `HostPattern("…")` (SE-0213).
    public init(stringLiteral text: String) {
        self = Self(text: text) ?? Self(unchecked: text, isValid: false)
    }

    /// The pattern in lower case; an invalid pattern as written.
    public var description: String { text }
}
