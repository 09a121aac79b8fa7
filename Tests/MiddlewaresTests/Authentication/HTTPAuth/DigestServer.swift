import Foundation
import InterceptorsSyntax
import InterceptorsTestSupport

@testable import InterceptorsAuthentication
@testable import InterceptorsMiddlewares

/// A server that sends a digest challenge, and checks each answer by the definitions of RFC 7616.
final class DigestServer: Transport {
    struct State {
        var nonces = ["nonce-1"]
        var usedCounts: Set<String> = []
        var requests: [HTTPRequest] = []
        var nextNonce: String?
    }

    let state = Shared(State())
    let qop: String
    let algorithm: String
    let password: String
    let saysStale: Bool

    init(qop: String = "auth", algorithm: String = "SHA-256", password: String = "p", saysStale: Bool = true) {
        self.qop = qop
        self.algorithm = algorithm
        self.password = password
        self.saysStale = saysStale
    }

    var requests: [HTTPRequest] { state.value.requests }

    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        let request = request
        let body = try await request.body.collect(upTo: 1 << 20)
        state.change { $0.requests.append(request) }
        let state = state.value
        guard let field = request.headers[.authorization], field.hasPrefix("Digest ") else {
            return challenge(request, isStale: false)
        }
        let given = Challenge.parameters(in: String(field.dropFirst(7)))
        guard try isRight(given, request, body) else { return challenge(request, isStale: false) }
        guard given["nonce"] == state.nonces.last, !state.usedCounts.contains("\(given)") else {
            return challenge(request, isStale: saysStale)
        }
        self.state.change { $0.usedCounts.insert("\(given)") }
        var response = HTTPResponse(status: 200, url: request.url)
        if let next = state.nextNonce {
            response.headers["Authentication-Info"] = "nextnonce=\"\(next)\""
            self.state.change { $0.nonces.append(next) }
        }
        return response
    }

    private func isRight(_ given: [String: String], _ request: HTTPRequest, _ body: Data) throws -> Bool {
        let target = request.url.path() + (request.url.query().map { "?\($0)" } ?? "")
        let check = DigestCheck(user: "u", realm: "r", password: password, algorithm: algorithm)
        return try check.accepts(given, "\(request.method)", target, body)
    }

    private func challenge(_ request: HTTPRequest, isStale: Bool) -> HTTPResponse {
        let nonce = state.value.nonces.last ?? ""
        return HTTPResponse(
            status: 401,
            headers: [
                .wwwAuthenticate:
                    "Digest realm=\"r\", qop=\"\(qop)\", algorithm=\(algorithm), nonce=\"\(nonce)\", stale=\(isStale)"
            ],
            url: request.url
        )
    }
}

/// Checks the parameters of a digest by the definitions of RFC 7616, with Transport's hash functions.
struct DigestCheck {
    let user: String
    let realm: String
    let password: String
    let algorithm: String

    /// Whether the digest is that of a request for the target.
    func accepts(_ given: [String: String], _ method: String, _ target: String, _ body: Data = Data()) throws -> Bool {
        let nonce = given["nonce"] ?? "", clientNonce = given["cnonce"] ?? ""
        var secret = try hash("\(user):\(realm):\(password)")
        if algorithm.hasSuffix("-sess") { secret = try hash("\(secret):\(nonce):\(clientNonce)") }
        var subject = "\(method):\(given["uri"] ?? "")"
        if given["qop"] == "auth-int" { subject += ":" + (try hash(body)) }
        let parts = [secret, nonce, given["nc"] ?? "", clientNonce, given["qop"] ?? "", try hash(subject)]
        return try given["response"] == hash(parts.joined(separator: ":")) && given["uri"] == target
    }

    private func hash(_ text: String) throws -> String { try hash(Data(text.utf8)) }

    private func hash(_ data: Data) throws -> String {
        try MessageDigest.of(data, algorithm.hasPrefix("MD5") ? .md5 : .sha256).hexadecimal
    }
}
