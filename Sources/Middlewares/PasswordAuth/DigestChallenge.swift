internal import Foundation

/// A challenge of the digest scheme that can be answered (RFC 7616 §3.3).
struct DigestChallenge: Sendable, Hashable {
    /// What the answer covers.
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
    /// `nil` for a server from before there was a choice (RFC 2069).
    let protections: Set<Protection>?
    let isStale: Bool
    let hashesUsername: Bool

    /// The challenge, or `nil` if it is of another scheme, lacks what an answer needs, or asks for what isn't known here.
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
        hashesUsername = parameters["userhash"]?.lowercased() == "true"
    }
}

/// Answers to one nonce: the count goes up with each request.
struct DigestSession: Sendable {
    private(set) var challenge: DigestChallenge
    let credential: PasswordCredential
    private(set) var clientNonce: String
    private(set) var count: UInt32 = 0

    init(_ challenge: DigestChallenge, _ credential: PasswordCredential, clientNonce: String) {
        self.challenge = challenge
        self.credential = credential
        self.clientNonce = clientNonce
    }

    /// What the next request is answered with; `nil` once the nonce is used up.
    mutating func next() -> DigestAnswer? {
        guard count < .max else { return nil }
        count += 1
        return DigestAnswer(challenge: challenge, credential: credential, clientNonce: clientNonce, count: count)
    }

    /// Goes on with a nonce that the server gave in advance (RFC 7616 §3.5).
    mutating func advance(to nonce: String, clientNonce: String) {
        guard nonce != challenge.nonce else { return }
        challenge.nonce = nonce
        self.clientNonce = clientNonce
        count = 0
    }
}

/// The answer to a digest challenge for one request (RFC 7616 §3.4).
struct DigestAnswer: Sendable {
    let challenge: DigestChallenge
    let credential: PasswordCredential
    let clientNonce: String
    let count: UInt32

    /// The value of `Authorization`; `nil` if the server insists on a digest of a body that can't be read beforehand.
    func authorization(for request: HTTPRequest) async throws -> String? {
        let protection: DigestChallenge.Protection?
        switch challenge.protections {
        case nil: protection = nil
        case let offered? where offered.contains(.authentication): protection = .authentication
        default:
            guard request.body.isRestartable else { return nil }
            protection = .integrity
        }
        var content = ""
        if protection == .integrity { content = try await Self.digest(of: request.body, challenge.algorithm) }
        return try field(
            method: request.method.rawValue,
            target: WireTarget(request).requestTarget,
            protection: protection,
            contentDigest: content
        )
    }

    // Reading and hashing may take its time: not on the caller's actor.
    @concurrent
    private static func digest(of body: HTTPBody, _ algorithm: MessageDigest.Algorithm) async throws -> String {
        do {
            return try await body.digest(algorithm).hexadecimal
        } catch let missing as DigestUnavailable {
            throw unanswerable(missing)
        }
    }

    private static func unanswerable(_ missing: DigestUnavailable) -> AuthenticationError {
        AuthenticationError(.unsupported, "The server's challenge can't be answered: \(missing).")
    }

    func field(
        method: String,
        target: String,
        protection: DigestChallenge.Protection?,
        contentDigest: String = ""
    ) throws -> String {
        let user = "\(credential.username):\(challenge.realm)"
        var secret = try hash("\(user):\(credential.password)")
        if challenge.isSession { secret = try hash("\(secret):\(challenge.nonce):\(clientNonce)") }
        let subject = try hash(
            protection == .integrity ? "\(method):\(target):\(contentDigest)" : "\(method):\(target)"
        )
        let hexCount = String(count, radix: 16)
        let paddedCount = String(repeating: "0", count: max(0, 8 - hexCount.utf8.count)) + hexCount
        let response =
            if let protection {
                try hash("\(secret):\(challenge.nonce):\(paddedCount):\(clientNonce):\(protection.rawValue):\(subject)")
            } else {
                try hash("\(secret):\(challenge.nonce):\(subject)")
            }
        var parts = [try username(user), "realm=\(Self.quoted(challenge.realm))"]
        parts += ["nonce=\(Self.quoted(challenge.nonce))", "uri=\(Self.quoted(target))", "response=\"\(response)\""]
        if let name = challenge.algorithmName { parts.append("algorithm=\(name)") }
        if let opaque = challenge.opaque { parts.append("opaque=\(Self.quoted(opaque))") }
        if let protection { parts += ["qop=\(protection.rawValue)", "nc=\(paddedCount)"] }
        if protection != nil || challenge.isSession { parts.append("cnonce=\"\(clientNonce)\"") }
        if challenge.hashesUsername { parts.append("userhash=true") }
        return "Digest " + parts.joined(separator: ", ")
    }

    private func username(_ user: String) throws -> String {
        if challenge.hashesUsername { return "username=\"\(try hash(user))\"" }
        let isPlain = credential.username.utf8.allSatisfy { 0x20..<0x7F ~= $0 }
        if isPlain { return "username=\(Self.quoted(credential.username))" }
        // RFC 7616 §3.4, in the notation of RFC 8187.
        return "username*=UTF-8''\(AWSCanonicalRequest.strictlyEncoded(credential.username.utf8))"
    }

    private func hash(_ text: String) throws -> String {
        do {
            return try MessageDigest.of(Array(text.utf8), challenge.algorithm).hexadecimal
        } catch let missing as DigestUnavailable {
            throw Self.unanswerable(missing)
        }
    }

    private static func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}
