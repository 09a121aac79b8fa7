internal import Foundation

/// A transport over the network whose TLS settings can be read, so that code that replaces the transport doesn't ignore them.
package protocol TLSConfiguredTransport: Transport {
    var tls: TLSConfiguration { get }
}

// Whether a transport can apply the settings, and whether a request may be sent with them.
extension TLSConfiguration {
    /// Whether libcurl and URLSession can apply the settings by themselves, without checks of ours.
    var isPlain: Bool {
        var plain = self
        plain.minimumVersion = TLSConfiguration.system.minimumVersion
        plain.isRequired = false
        plain.pinReports = []
        return plain == .system
    }

    /// The settings that need checks of ours at each connection, as text, which URLSession on Linux would have to ignore. `nil` if the
    /// system's own checks are enough.
    package var settingsBeyondSystem: String? {
        var needs: [String] = []
        if trust != .system { needs.append("custom trust anchors") }
        if !pins.isEmpty { needs.append("pins") }
        if signedPins != nil { needs.append("signed pins") }
        if !serverChecks.isEmpty { needs.append("a check of each server") }
        if identity != nil { needs.append("a client identity") }
        if minimumVersion != TLSConfiguration.system.minimumVersion { needs.append("a minimum of \(minimumVersion)") }
        if !hostsWithoutTrust.isEmpty || !hostsWithoutName.isEmpty { needs.append("hosts exempt from verification") }
        return needs.isEmpty ? nil : needs.joined(separator: ", ")
    }

    /// The error of a transport on URLSession on Linux, if the settings need more than it supports.
    package func refusalOfURLSessionOnLinux(_ request: HTTPRequest?) -> TransportError? {
        #if os(Linux)
        let remedy = "use CurlTransport, or .platform(tls:), which picks it."
        #else
        let remedy = "no transport of this package can do it on this platform."
        #endif
        return settingsBeyondSystem.map { needs in
            TransportError(
                .unsupported,
                "URLSession on this platform can't do what the TLS settings ask for (\(needs)), and they are not ignored:"
                    + " \(remedy)",
                request: request
            )
        }
    }

    func acceptsAnyCertificate(from host: String) -> Bool { hostsWithoutTrust.contains(HostPattern.normalized(host)) }

    /// Whether a certificate for another host may be accepted: its names aren't compared, or any certificate is accepted.
    func acceptsAnyHostName(from host: String) -> Bool { ignoresNames(of: host) || acceptsAnyCertificate(from: host) }

    /// Whether the names of the host's certificate are part of no verification.
    func ignoresNames(of host: String) -> Bool { hostsWithoutName.contains(HostPattern.normalized(host)) }

    /// The error of an invalid literal in the settings, or `nil` if all are valid.
    var literalError: TransportError? {
        for (pattern, pins) in pins {
            if let error = pattern.literalError ?? pins.lazy.compactMap(\.literalError).first { return error }
        }
        return nil
    }

    /// Throws if a literal in the settings is invalid, because the intended check would be skipped.
    package func checkLiterals(_ request: HTTPRequest) throws {
        guard let error = literalError else { return }
        let message = "The TLS settings can't be used, and nothing is sent with them: \(error.message)"
        throw TransportError(.unsupported, message, request: request, underlying: error)
    }

    /// Throws if the settings require TLS and the request would be sent without TLS.
    package func checkScheme(_ request: HTTPRequest) throws {
        guard isRequired, !request.url.isHTTPS else { return }
        let message = "The TLS settings require https (TLSConfiguration.isRequired), so nothing is sent to this URL."
        throw TransportError(.tlsFailed, message, request: request)
    }

    /// Throws if a literal in the settings is invalid, or if a host that must be checked would be called without TLS.
    func check(_ request: HTTPRequest) throws {
        try checkLiterals(request)
        try checkScheme(request)
        if !serverChecks.isEmpty, !request.url.isHTTPS {
            let message = "The check of each server (TLSConfiguration.checkingServers) is only possible over https."
            throw TransportError(.tlsFailed, message, request: request)
        }
        guard !pins.isEmpty || signedPins != nil, !request.url.isHTTPS,
            let host = request.url.host(percentEncoded: false), pins(for: host) != nil
        else { return }
        let message = "\(host) has pins, which only https can check: over http, anybody could answer."
        throw TransportError(.tlsFailed, message, request: request)
    }
}
