import Foundation
import InterceptorsInsight
import InterceptorsSyntax
import InterceptorsTestSupport
import Testing

@testable import InterceptorsAuthentication
@testable import InterceptorsMiddlewares

/// A 401 that goes to the caller says why it wasn't answered.
@Suite(.againstHanging) struct UnansweredChallengeTests {
    private static let home = URL(string: "https://api.example.com/")!
    private static let local = URL(string: "http://localhost:8080/")!

    private static func auth(
        _ schemes: Set<PasswordScheme> = [.basic, .digest],
        origins: Set<Origin> = [Origin(home)!, Origin(local)!],
        credential: PasswordCredential? = PasswordCredential(username: "u", password: "hunter2")
    ) -> AnyInterceptor {
        .httpAuth(schemes: schemes, origins: origins) { _, _ in credential }
    }

    private static func challenging(_ challenges: String...) -> Recorder {
        Recorder { request in
            var fields = HTTPFields()
            for challenge in challenges { fields.append(.wwwAuthenticate, challenge) }
            return HTTPResponse(status: 401, headers: fields, url: request.url)
        }
    }

    /// The descriptions of the error and of the journal's notes.
    private func texts(
        _ auth: AnyInterceptor,
        _ server: some Transport,
        _ request: HTTPRequest = HTTPRequest(url: home)
    ) async -> (error: String, journal: String) {
        let journal = Journal()
        let chain = InterceptorChain([.validateStatus(), auth], transport: server, observer: journal)
        let error = await #expect(throws: StatusError.self) { try await chain.send(request) }
        return (error?.description ?? "", journal.calls.map(\.explained).joined())
    }

    private static let cases: [(auth: AnyInterceptor, server: Recorder, url: URL, part: String)] = [
        (auth(), challenging("Basic realm=r"), local, "basic isn't answered over http"),
        (auth(), challenging("Digest realm=r, nonce=n, qop=auth, algorithm=SHA3-256"), home, "SHA3-256, auth"),
        (auth(), challenging("Negotiate"), home, "asks for negotiate, and only basic or digest is answered"),
        (auth([.digest]), challenging("Basic realm=r"), home, "asks for basic, and only digest is answered"),
        (auth(), challenging(), home, "no challenge that can be read"),
        (auth(origins: [Origin(local)!]), challenging("Basic realm=r"), home, "is for http://localhost:8080"),
        (auth(credential: nil), challenging("Basic realm=r"), home, "the closure has none"),
        (auth(), challenging("Basic realm=r"), home, "rejected the password"),
    ]

    @Test(arguments: cases.indices) func theErrorAndTheJournalSayWhy(index: Int) async {
        let (auth, server, url, part) = Self.cases[index]
        let texts = await texts(auth, server, HTTPRequest(url: url))
        #expect(texts.error.contains(part), "\(texts.error)")
        #expect(texts.journal.contains(part), "\(texts.journal)")
        #expect(!texts.error.contains("hunter2") && !texts.journal.contains("hunter2"))
    }

    @Test func aPasswordThatWasRejectedBeforeIsNotSentAndTheErrorSaysSo() async {
        let (auth, server) = (Self.auth(), Self.challenging("Basic realm=r"))
        _ = await texts(auth, server)
        #expect(await texts(auth, server).error.contains("rejected this one before"))
        #expect(server.requests.count == 3)
    }

    @Test func aDigestOfContentThatCanBeReadOnceSaysSo() async {
        let body = HTTPBody.oneShot(Chunks(["a"]))
        let request = HTTPRequest(method: .post, url: Self.home, body: body)
        let server = Self.challenging("Digest realm=r, nonce=n, qop=auth-int")
        #expect(await texts(Self.auth(), server, request).error.contains("auth-int"))
    }

    @Test func aTextOfTheServerIsCutAndPrintable() async {
        let name = "a" + String(repeating: "b", count: 500)
        let text = await texts(Self.auth(), Self.challenging("\(name) x=1")).error
        #expect(text.contains("abb") && !text.contains(String(repeating: "b", count: 50)))
    }

    @Test func anAnsweredChallengeLeavesNoReason() async throws {
        let server = Recorder { request in
            let isAnswered = request.headers.contains(.authorization)
            return HTTPResponse(
                status: isAnswered ? 404 : 401,
                headers: [.wwwAuthenticate: "Basic realm=r"],
                url: request.url
            )
        }
        let text = await texts(Self.auth(), server).error
        #expect(!text.contains("password"), "\(text)")
    }
}
