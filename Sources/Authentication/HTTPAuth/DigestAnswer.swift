internal import Foundation
internal import InterceptorsSyntax

/// The credentials for one request in response to a digest challenge (RFC 7616 §3.4). As a session, the last answer to its
/// nonce, whose count increases with each request.
struct DigestAnswer: Sendable {
    var challenge: DigestChallenge
    let credential: PasswordCredential
    var clientNonce: String
    var count: UInt32 = 0

    /// Whether another session has the same nonce, realm, algorithm, protections and credential.
    func isContinued(by other: DigestAnswer) -> Bool {
        let (mine, others) = (challenge, other.challenge)
        return mine.nonce == others.nonce && mine.realm == others.realm && mine.algorithm == others.algorithm
            && mine.isSession == others.isSession && mine.protections == others.protections
            && credential == other.credential
    }

    /// The answer for the next request; `nil` once the count is exhausted.
    mutating func next() -> DigestAnswer? {
        guard count < .max else { return nil }
        count += 1
        return self
    }

    /// Continues with the next nonce that the server announced (RFC 7616 §3.5).
    mutating func advance(to nonce: String, clientNonce: String) {
        guard nonce != challenge.nonce else { return }
        challenge.nonce = nonce
        self.clientNonce = clientNonce
        count = 0
    }

    /// The field's value; `nil` if the server requires a digest of the body, and the body can be read only once.
    func authorization(for request: HTTPRequest) async throws -> String? {
        let offered = challenge.protections
        let protection: DigestChallenge.Protection? =
            offered.map { $0.contains(.authentication) ? .authentication : .integrity }
        guard protection != .integrity || request.body.isRestartable else { return nil }
        do {
            return try field(
                method: request.method.rawValue,
                target: WireTarget(request).requestTarget,
                protection: protection,
                contentDigest: protection == .integrity ? try await digest(of: request.body) : ""
            )
        } catch let missing as DigestUnavailable {
            throw AuthenticationError(.unsupported, "The server's challenge can't be answered: \(missing).")
        }
    }

    // Reading and hashing may take long, so they leave the caller's actor.
    @concurrent
    private func digest(of body: HTTPBody) async throws -> String {
        try await body.digest(challenge.algorithm).hexadecimal
    }

    func field(
        method: String,
        target: String,
        protection: DigestChallenge.Protection?,
        contentDigest: String = ""
    ) throws -> String {
        var secret = try hash("\(credential.username):\(challenge.realm):\(credential.password)")
        if challenge.isSession { secret = try hash("\(secret):\(challenge.nonce):\(clientNonce)") }
        let subject = try hash(
            protection == .integrity ? "\(method):\(target):\(contentDigest)" : "\(method):\(target)"
        )
        let count = count.hexadecimal
        let response =
            if let protection {
                try hash("\(secret):\(challenge.nonce):\(count):\(clientNonce):\(protection.rawValue):\(subject)")
            } else {
                try hash("\(secret):\(challenge.nonce):\(subject)")
            }
        var parts = [username, "realm=\(Self.quoted(challenge.realm))"]
        parts += ["nonce=\(Self.quoted(challenge.nonce))", "uri=\(Self.quoted(target))", "response=\"\(response)\""]
        if let name = challenge.algorithmName { parts.append("algorithm=\(name)") }
        if let opaque = challenge.opaque { parts.append("opaque=\(Self.quoted(opaque))") }
        if let protection { parts += ["qop=\(protection.rawValue)", "nc=\(count)"] }
        if protection != nil || challenge.isSession { parts.append("cnonce=\"\(clientNonce)\"") }
        return "Digest " + parts.joined(separator: ", ")
    }

    private var username: String {
        let isPlain = credential.username.utf8.allSatisfy { 0x20..<0x7F ~= $0 }
        if isPlain { return "username=\(Self.quoted(credential.username))" }
        // RFC 7616 §3.4: a name outside ASCII is sent in the notation of RFC 8187.
        return "username*=UTF-8''\(PercentEncoding.component(credential.username))"
    }

    private func hash(_ text: String) throws -> String {
        try MessageDigest.of(Array(text.utf8), challenge.algorithm).hexadecimal
    }

    // Compares bytes, because a search by characters misses a quote that a combining accent follows.
    private static func quoted(_ text: String) -> String {
        var quoted = [UInt8(ascii: "\"")]
        for byte in text.utf8 {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { quoted.append(UInt8(ascii: "\\")) }
            quoted.append(byte)
        }
        return String(decoding: quoted, as: UTF8.self) + "\""
    }
}
