import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares
@testable import InterceptorsTraffic

/// One rule decides which fields are secret and which tell two callers apart.
@Suite(.againstHanging) struct SensitiveFieldsTests {
    private static let names = [
        "X-Session", "X-SID", "X-Key", "DPoP", "X-Ticket", "X-Login", "X-Pin", "X-User-Id", "X-Acme-Session",
        "Authorization", "Cookie", "X-API-Key", "X-Forwarded-User", "Session-Id", "Auth",
    ]

    private func request(_ name: String, _ value: String) throws -> HTTPRequest {
        HTTPRequest(
            url: try url("https://api.example.com/x"),
            headers: [.accept: "*/*", HTTPField.Name(stringLiteral: name): value]
        )
    }

    @Test(arguments: names)
    func aSensitiveFieldMakesAPartition(name: String) throws {
        let partitions = CachePartitions()
        // A name that hexadecimal digits can't contain.
        let zoe = partitions.name(for: try request(name, "zoe"))
        #expect(!zoe.isEmpty && !zoe.contains("zoe"))
        #expect(partitions.name(for: try request(name, "bob")) != zoe)
        #expect(partitions.name(for: try request(name, "zoe")) == zoe)
        #expect(Redaction.standard.isSensitive(name))
    }

    @Test(arguments: names)
    func aSensitiveFieldIsNeverIgnoredByACoalescer(name: String) throws {
        let ignored: Set<HTTPField.Name> = [HTTPField.Name(stringLiteral: name)]
        let ada = ExchangeIdentity(of: try request(name, "ada"), ignoring: ignored)
        #expect(ada != nil)
        #expect(ExchangeIdentity(of: try request(name, "bob"), ignoring: ignored) != ada)
        #expect(ExchangeIdentity(of: try request(name, "ada"), ignoring: ignored) == ada)
    }

    // Proxy-Authorization concerns the proxy, and says nothing about whose response the origin sends (RFC 9110 §11.7.2).
    @Test func credentialsForAProxyIdentifyNoCaller() throws {
        let (ada, bob) = (try request("Proxy-Authorization", "ada"), try request("proxy-authorization", "bob"))
        #expect(CachePartitions().name(for: ada).isEmpty)
        #expect(ada.caller == bob.caller)
        #expect("\(ada.caller)" == "Caller(nobody)")
        #expect(Redaction.standard.isSensitive("Proxy-Authorization"))
    }

    // Without its credentials a request may get the proxy's 407, which must not answer a request that has them.
    @Test func credentialsForAProxyAreAnOrdinaryFieldToACoalescer() throws {
        let (ada, bob) = (try request("Proxy-Authorization", "ada"), try request("Proxy-Authorization", "bob"))
        #expect(ExchangeIdentity(of: ada, ignoring: []) != ExchangeIdentity(of: bob, ignoring: []))
        let ignored: Set<HTTPField.Name> = [.proxyAuthorization]
        #expect(ExchangeIdentity(of: ada, ignoring: ignored) == ExchangeIdentity(of: bob, ignoring: ignored))
    }

    @Test(arguments: names + ["Proxy-Authorization"])
    func aSensitiveFieldIsNotSentToAnotherOrigin(name: String) throws {
        let target = try url("https://other.example.com/x")
        let next = RedirectRules(redaction: .standard).request(after: try request(name, "ada"), status: 307, to: target)
        #expect(!next.headers.contains(HTTPField.Name(stringLiteral: name)))
        #expect(next.headers.contains(.accept))
    }

    @Test(arguments: ["Accept-Language", "X-Request-ID", "User-Agent", "X-Content-Type-Options"])
    func anyOtherFieldMakesNone(name: String) throws {
        #expect(CachePartitions().name(for: try request(name, "ada")).isEmpty)
    }

    @Test func aSecretInAReasonPhraseIsNotLogged() async throws {
        let log = LogRecorder()
        let status = try #require(HTTPResponse.Status(code: 401, reasonPhrase: "token=hush refused"))
        let chain = InterceptorChain(
            [.validateStatus(), .logging(.basic, to: log.sink)],
            transport: Recorder { request in HTTPResponse(status: status, url: request.url) }
        )
        let error = await #expect(throws: StatusError.self) { try await chain.send(try request("Accept", "a")) }
        #expect(log.text.contains("401 token=<redacted> refused"))
        let description = try #require(error).description
        #expect(!log.text.contains("hush") && !description.contains("hush"))
    }

    @Test func aBodyThatWasCutHidesASecretWhoseEndIsMissing() async throws {
        let chain = InterceptorChain(
            [.validateStatus(bodyLimit: 16)],
            transport: Recorder { _ in HTTPResponse(status: 500, body: "see https://ada:hush@h.example/x") }
        )
        let error = await #expect(throws: StatusError.self) { try await chain.send(try request("Accept", "a")) }
        #expect(try !#require(error).description.contains("hu"))
    }
}
