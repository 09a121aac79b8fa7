import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsAuthentication
@testable import InterceptorsMiddlewares

/// Basic credentials that were sent in advance and rejected.
@Suite(.againstHanging) struct BasicInAdvanceTests {
    private static let home = URL(string: "https://api.example.com/")!

    private func fields(_ requests: [HTTPRequest]) -> [String] {
        requests.map { $0.headers[.authorization] ?? "-" }
    }

    private func server(
        challenge: @escaping @Sendable (HTTPRequest) -> String = { _ in "Basic realm=r" },
        accepting isAccepted: @escaping @Sendable (HTTPRequest) -> Bool
    ) -> Recorder {
        Recorder { request in
            isAccepted(request)
                ? HTTPResponse(status: 200, url: request.url)
                : HTTPResponse(
                    status: 401,
                    headers: [.wwwAuthenticate: challenge(request)],
                    url: request.url
                )
        }
    }

    private func chain(
        _ server: Recorder,
        credentials: @escaping @Sendable (String, Origin) async throws -> PasswordCredential?
    ) -> InterceptorChain {
        InterceptorChain([.httpAuth(origins: [Origin(Self.home)!], credentials: credentials)], transport: server)
    }

    @Test func changedPasswordIsAskedForAndTheCallSucceeds() async throws {
        let password = Shared("1")
        let server = server { $0.headers[.authorization] == (password.value == "1" ? "Basic YTox" : "Basic YToy") }
        let chain = chain(server) { _, _ in PasswordCredential(username: "a", password: password.value) }
        #expect(try await chain.get(Self.home) == 200)
        password.change { $0 = "2" }
        for _ in 0..<2 { #expect(try await chain.get(Self.home) == 200) }
        #expect(fields(server.requests) == ["-", "Basic YTox", "Basic YTox", "Basic YToy", "Basic YToy"])
    }

    @Test func secondRealmOfAnOriginIsAskedForItsOwnCredential() async throws {
        let values = ["/a": "Basic YTox", "/b": "Basic YToy"]
        let server = server {
            "Basic realm=\"\($0.url.path())\""
        } accepting: {
            $0.headers[.authorization] == values[$0.url.path()]
        }
        let chain = chain(server) { realm, _ in
            PasswordCredential(username: "a", password: realm == "/a" ? "1" : "2")
        }
        for path in ["/a", "/b", "/b", "/a"] {
            #expect(try await chain.get(try url("https://api.example.com" + path)) == 200)
        }
        #expect(
            fields(server.requests)
                == ["-", "Basic YTox", "Basic YTox", "Basic YToy", "Basic YToy", "Basic YToy", "Basic YTox"]
        )
    }

    @Test func unchangedCredentialIsNotSentTwiceForWhateverRealm() async throws {
        let server = server {
            "Basic realm=\"\($0.url.path())\""
        } accepting: {
            $0.headers.contains(.authorization) && $0.url.path() == "/a"
        }
        let chain = chain(server) { _, _ in PasswordCredential(username: "a", password: "1") }
        #expect(try await chain.get(try url("https://api.example.com/a")) == 200)
        for _ in 0..<2 { #expect(try await chain.get(try url("https://api.example.com/b")) == 401) }
        #expect(try await chain.get(try url("https://api.example.com/a")) == 200)
        #expect(fields(server.requests) == ["-"] + Array(repeating: "Basic YTox", count: 4))
    }

    @Test func wrongNewPasswordIsSentOnce() async throws {
        let (isOpen, asked) = (Shared(true), Tally())
        let server = server { isOpen.value && $0.headers.contains(.authorization) }
        let chain = chain(server) { _, _ in
            asked.count()
            return PasswordCredential(username: "a", password: isOpen.value ? "1" : "2")
        }
        #expect(try await chain.get(Self.home) == 200)
        isOpen.change { $0 = false }
        for _ in 0..<3 { #expect(try await chain.get(Self.home) == 401) }
        #expect(fields(server.requests) == ["-", "Basic YTox", "Basic YTox", "Basic YToy", "-", "-"])
    }

    @Test func rejectedDigestIsNotFollowedByThePasswordItselfWhereDigestsAreStillOffered() async throws {
        let isOpen = Shared(true)
        let server = Recorder { request in
            if isOpen.value, request.headers.contains(.authorization) {
                return HTTPResponse(status: 200, url: request.url)
            }
            return HTTPResponse(
                status: 401,
                headers: [
                    .wwwAuthenticate: "Digest realm=r, nonce=n, qop=auth", .wwwAuthenticate: "Basic realm=r",
                ],
                url: request.url
            )
        }
        let chain = chain(server) { _, _ in PasswordCredential(username: "a", password: "1") }
        #expect(try await chain.get(Self.home) == 200)
        isOpen.change { $0 = false }
        #expect(try await chain.get(Self.home) == 401)
        #expect(!fields(server.requests).contains { $0.hasPrefix("Basic") })
    }
}
