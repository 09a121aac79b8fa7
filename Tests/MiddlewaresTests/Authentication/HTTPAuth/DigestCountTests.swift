import Foundation
import InterceptorsSyntax
import InterceptorsTestSupport
import Testing

@testable import InterceptorsAuthentication
@testable import InterceptorsMiddlewares

/// A nonce's count is never used twice, and a late rejection of an old nonce doesn't reset the newer count.
@Suite(.againstHanging)
struct DigestCountTests {
    private static let home = URL(string: "https://api.example.com/")!

    @Test func lateRejectionOfAnOlderNonceLeavesTheCountOfTheNewerOne() throws {
        let origin = try #require(Origin(Self.home))
        let credential = PasswordCredential(username: "u", password: "p")
        func session(_ nonce: String) throws -> DigestAnswer {
            let challenge = Challenge(scheme: "digest", parameters: ["realm": "r", "nonce": nonce, "qop": "auth"])
            let digest = try #require(DigestChallenge(challenge))
            return DigestAnswer(challenge: digest, credential: credential, clientNonce: "c")
        }
        var state = HTTPAuthState()
        let old = state.answer(of: try session("old"), at: origin)
        _ = state.answer(of: try session("new"), at: origin)
        state.reject(.digest(try #require(old)), at: origin)
        let next = state.answer(of: try session("new"), at: origin)
        #expect(next?.count == 2)
        state.reject(.digest(try #require(next)), at: origin)
        let none = state.answerInAdvance(to: origin)
        #expect(none.map { _ in true } == nil)
    }

    @Test func requestsChallengedWithOneNonceAtOnceNeverUseACountTwice() async throws {
        let (challenged, used) = (Tally(), Shared<[String]>([]))
        let server = Recorder { request in
            guard let field = request.headers[.authorization] else {
                challenged.count()
                await challenged.reached(100)
                let challenge = "Digest realm=r, nonce=n, qop=auth, algorithm=SHA-256"
                return HTTPResponse(status: 401, headers: [.wwwAuthenticate: challenge], url: request.url)
            }
            let count = Challenge.parameters(in: String(field.dropFirst(7)))["nc"]
            used.change { $0.append(count ?? "none") }
            return HTTPResponse(status: 200, url: request.url)
        }
        let auth = AnyInterceptor.digestAuth(username: "u", password: "p", origins: [Origin(Self.home)!])
        let chain = InterceptorChain([auth], transport: server)
        try await withThrowingTaskGroup { group in
            for _ in 0..<100 { group.addTask { try await chain.get(Self.home) } }
            for try await status in group { #expect(status == 200) }
        }
        let expected = (1...100).map {
            String(repeating: "0", count: 8 - String($0, radix: 16).count) + String($0, radix: 16)
        }
        #expect(used.value.sorted() == expected)
    }
}
