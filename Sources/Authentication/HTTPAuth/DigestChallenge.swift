internal import Foundation
internal import InterceptorsSyntax

/// A challenge of the digest scheme (RFC 7616 §3.3) that this package can answer.
struct DigestChallenge: Sendable, Hashable {
    /// The quality of protection: `auth` covers the method and the target, `auth-int` also the body.
    enum Protection: String, Sendable {
        case authentication = "auth"
        case integrity = "auth-int"
    }

    let realm: String
    var nonce: String
    let opaque: String?
    let algorithm: MessageDigest.Algorithm
    /// The algorithm as the server spelled it; `nil` if it named none.
    let algorithmName: String?
    let isSession: Bool
    /// The protections on offer; `nil` for a server that predates the parameter (RFC 2069).
    let protections: Set<Protection>?
    let isStale: Bool

    /// Returns `nil` if the challenge has another scheme, lacks a required parameter, or names an unknown algorithm or
    /// protection.
    init?(_ challenge: Challenge) {
        let parameters = challenge.parameters
        guard challenge.scheme == "digest", let realm = parameters["realm"], let nonce = parameters["nonce"] else {
            return nil
        }
        var name = parameters["algorithm"]?.lowercased() ?? "md5"
        isSession = name.hasSuffix("-sess")
        if isSession { name.removeLast("-sess".count) }
        switch name {
        case "md5": algorithm = .md5
        case "sha-256": algorithm = .sha256
        default: return nil
        }
        protections = parameters["qop"].map { options in
            Set(
                options.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }
                    .compactMap { Protection(rawValue: String($0)) }
            )
        }
        if protections?.isEmpty == true { return nil }
        self.realm = realm
        self.nonce = nonce
        opaque = parameters["opaque"]
        algorithmName = parameters["algorithm"]
        isStale = parameters["stale"]?.lowercased() == "true"
    }
}
