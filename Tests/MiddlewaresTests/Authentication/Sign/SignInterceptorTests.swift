import Foundation
import InterceptorsSyntax
import InterceptorsTestSupport
import Testing

@testable import InterceptorsAuthentication
@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct SignInterceptorTests {
    private let home = URL(string: "https://api.example.com/orders?id=1")!

    private func send(_ interceptors: [any Interceptor], _ request: HTTPRequest) async throws -> [HTTPRequest] {
        let recorder = Recorder()
        _ = try await InterceptorChain(interceptors, transport: recorder).send(request)
        return recorder.requests
    }

    @Test func hookSeesTheFinalRequestAndAddsFieldsAndParameters() async throws {
        let date = Date(timeIntervalSince1970: 1_000)
        let sign = AnyInterceptor.sign(origins: [Origin(home)!], time: TimeSource(now: { date })) { request, date in
            let digest = try await request.body.sha256().hexadecimal
            let text =
                "\(request.method) \(request.headers[.accept] ?? "") \(digest) \(date.timeIntervalSince1970)"
            request.headers["X-Signature"] = text
            request.url.append(queryItems: [URLQueryItem(name: "signed", value: "yes")])
        }
        let request = HTTPRequest(method: .post, url: home, body: "abc")
        let sent = try await send([.headers([.accept: "text/plain"]), sign], request)[0]
        #expect(
            sent.headers["X-Signature"]
                == "POST text/plain ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad 1000.0"
        )
        #expect(sent.url.absoluteString == "https://api.example.com/orders?id=1&signed=yes")
    }

    @Test func onlyChosenRequestsAreSigned() async throws {
        let signer = RequestSigner { request, _ in request.headers["X-Signature"] = "yes" }
        let sign = AnyInterceptor.sign(signer, origins: [Origin(home)!], where: { $0.method != .get })
        #expect(try await send([sign], HTTPRequest(url: home))[0].headers.isEmpty)
        #expect(try await send([sign], HTTPRequest(method: .put, url: home))[0].headers.count == 1)
    }

    @Test(arguments: ["https://other.example.com/", "http://api.example.com/", "https://api.example.com:444/"])
    func nothingIsSignedForAnotherOrigin(other: String) async throws {
        let sign = AnyInterceptor.sign(.hmacSHA256(SigningKey("k")), origins: [Origin(home)!])
        #expect(try await send([sign], HTTPRequest(url: try url(other)))[0].headers.isEmpty)
    }

    @Test func originOfTheClientIsTheDefaultAndAnUnknownOneIsExplained() async throws {
        let recorder = Recorder()
        let client = Client(
            baseURL: home,
            interceptors: [.sign(.hmacSHA256(SigningKey("k")))],
            transport: recorder
        )
        _ = try await client.send(HTTPRequest(url: home))
        _ = try await client.send(HTTPRequest(url: try url("https://evil.example/")))
        #expect(recorder.requests.map { $0.headers.contains("Signature") } == [true, false])
        let error = await #expect(throws: TransportError.self) {
            try await send([.sign(.hmacSHA256(SigningKey("k")))], HTTPRequest(url: home))
        }
        #expect(error?.code == .unknownOrigin)
    }

    @Test func redirectToAnotherOriginIsNotSigned() async throws {
        let target = try url("https://elsewhere.example/")
        let redirect: some Interceptor = AnyInterceptor.intercept { request, next in
            var hop = request
            _ = try await next(request)
            hop.url = target
            return try await next(hop)
        }
        let sign = AnyInterceptor.sign(.hmacSHA256(SigningKey("k")), origins: [Origin(home)!])
        let sent = try await send([redirect, sign], HTTPRequest(url: home))
        #expect(sent.map { $0.headers.contains("Signature") } == [true, false])
    }

    @Test func whatTheSignerThrowsIsTheErrorAndNothingIsSent() async throws {
        struct Refused: Error {}
        let recorder = Recorder()
        let chain = InterceptorChain(
            [.sign(origins: [Origin(home)!]) { _, _ in throw Refused() }],
            transport: recorder
        )
        await #expect(throws: Refused.self) { try await chain.send(HTTPRequest(url: home)) }
        #expect(recorder.requests.isEmpty)
    }

    @Test func missingCryptographyIsAClearError() throws {
        let error = #expect(throws: TransportError.self) {
            try TransportError.signing { throw DigestUnavailable("OpenSSL 3 was not found: install it") }
        }
        #expect(error?.code == .unsupported)
        #expect(error?.description.contains("OpenSSL 3 was not found") == true)
    }

    @Test func secretsAreInNoDescriptionNoDumpAndNoError() async throws {
        let key = SigningKey("s3cr3t")
        var dumped = ""
        dump(AnyInterceptor.sign(.hmacSHA256(key, keyID: "id")), to: &dumped)
        let url = try url("https://user:s3cr3t@api.example.com/?signature=s3cr3t")
        let error = await #expect(throws: TransportError.self) {
            try await send([.sign(.hmacSHA256(key))], HTTPRequest(url: url))
        }
        dump(error, to: &dumped)
        for text in ["\(key)", String(reflecting: key), "\(String(describing: error))", dumped] {
            #expect(!text.contains("s3cr3t"))
        }
    }
}

@Suite(.againstHanging) struct MessageDigestTests {
    // RFC 1321 §A.5, FIPS 180-4
    @Test func digestsAreThoseOfTheStandards() throws {
        #expect(try MessageDigest.of(Data("abc".utf8), .md5).hexadecimal == "900150983cd24fb0d6963f7d28e17f72")
        #expect(try MessageDigest.of(Data(), .md5).hexadecimal == "d41d8cd98f00b204e9800998ecf8427e")
        #expect(
            try MessageDigest.of(Data(), .sha256).hexadecimal
                == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        )
        var digest = try MessageDigest(.sha256)
        for piece in ["a", "", "bc"] { try digest.update(Data(piece.utf8)) }
        #expect(
            try digest.finish().hexadecimal == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        )
    }

    // RFC 4231 §4.2, §4.3, §4.7
    @Test(arguments: [
        (
            Data(repeating: 0x0B, count: 20), "Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Data("Jefe".utf8), "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            Data(repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
    ])
    func authenticationCodesAreThoseOfTheRFC(key: Data, message: String, code: String) throws {
        #expect(try SigningKey(key).hmacSHA256(message).hexadecimal == code)
    }

    @Test func emptyKeyAndMessageHaveACode() throws {
        #expect(
            try SigningKey("").hmacSHA256("").hexadecimal
                == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"
        )
    }
}

@Suite(.againstHanging) struct HTTPMessageSignatureTests {
    private static let secret = Data(
        base64Encoded: "uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ=="
    )!
    private static let date = Date(timeIntervalSince1970: 1_618_884_473)

    private func request(_ body: HTTPBody = #"{"hello": "world"}"#) throws -> HTTPRequest {
        HTTPRequest(
            method: .post,
            url: try url("https://example.com/foo?param=Value&Pet=dog"),
            headers: [.date: "Tue, 20 Apr 2021 02:07:55 GMT", .contentType: "application/json"],
            body: body
        )
    }

    // RFC 9421 §B.2.5
    @Test func vectorOfTheRFC() async throws {
        var request = try request()
        let signer = HTTPMessageSignature(
            SigningKey(Self.secret),
            keyID: "test-shared-secret",
            label: "sig-b25",
            covering: ["Date", "@authority", "Content-Type"]
        )
        try await signer.sign(&request, at: Self.date)
        #expect(
            request.headers["Signature-Input"]
                == #"sig-b25=("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret""#
        )
        #expect(request.headers["Signature"] == "sig-b25=:pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=:")
    }

    @Test func methodURLTypeAndDigestAreCoveredByDefault() async throws {
        var request = try request()
        try await HTTPMessageSignature(SigningKey(Self.secret)).sign(&request, at: Self.date)
        // RFC 9530 §B.1 contains the digest of this content.
        #expect(
            request.headers["Content-Digest"] == "sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:"
        )
        let parameters = #"("@method" "@target-uri" "content-type" "content-digest");created=1618884473"#
        #expect(request.headers["Signature-Input"] == "sig1=\(parameters)")
        let covered = ["@method", "@target-uri", "content-type", "content-digest"]
        #expect(
            try HTTPMessageSignature.base(covered, parameters, of: request) == """
                "@method": POST
                "@target-uri": https://example.com/foo?param=Value&Pet=dog
                "content-type": application/json
                "content-digest": sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:
                "@signature-params": \(parameters)
                """
        )
    }

    // RFC 9421 §2.2
    @Test func derivedComponents() throws {
        func base(_ text: String, _ component: String) throws -> String {
            let base = try HTTPMessageSignature.base([component], "", of: HTTPRequest(url: try url(text)))
            return String(base.split(separator: "\n")[0].split(separator: ": ", maxSplits: 1)[1])
        }
        #expect(try base("https://WWW.example.com:443/path?a=b", "@authority") == "www.example.com")
        #expect(try base("http://example.com:8080/", "@authority") == "example.com:8080")
        #expect(try base("https://example.com", "@path") == "/")
        #expect(try base("https://example.com/p?a=b%20c", "@query") == "?a=b%20c")
        #expect(try base("https://example.com/p", "@query") == "?")
        #expect(try base("https://example.com/p?q", "@request-target") == "/p?q")
        #expect(try base("HTTPS://example.com/p", "@scheme") == "https")
        #expect(try base("https://example.com/p?q#fragment", "@target-uri") == "https://example.com/p?q")
    }

    // RFC 9421 §2.1.
    @Test func valuesOfSeveralFieldsOfANameAreJoinedByACommaAndASpace() throws {
        let fields: HTTPFields = ["X-A": "  one ", "Date": "d", "x-a": "two,three", "X-Empty": ""]
        let request = HTTPRequest(url: try url("https://example.com/"), headers: fields)
        let base = try HTTPMessageSignature.base(["x-a", "x-empty"], "()", of: request)
        #expect(base == "\"x-a\": one, two,three\n\"x-empty\": \n\"@signature-params\": ()")
    }

    @Test func missingFieldUnknownComponentAndBadNamesAreRefused() async throws {
        let key = SigningKey("k")
        for signer in [
            HTTPMessageSignature(key, covering: ["x-missing"]), HTTPMessageSignature(key, covering: ["@status"]),
            HTTPMessageSignature(key, label: "A"), HTTPMessageSignature(key, label: "a b"),
            HTTPMessageSignature(key, covering: ["a\"b"]), HTTPMessageSignature(key, keyID: "ü"),
            HTTPMessageSignature(key, covering: ["date", "Date"]),
        ] {
            var request = try request()
            let error = await #expect(throws: TransportError.self) { try await signer.sign(&request, at: Self.date) }
            #expect(error?.code == .unsignableRequest)
            #expect(!request.headers.contains("Signature"))
        }
    }

    @Test func oneShotBodyIsRefusedUnlessItsDigestIsLeftOut() async throws {
        let body = HTTPBody.oneShot(Chunks(["a"]))
        var request = try request(body)
        let error = await #expect(throws: TransportError.self) {
            try await HTTPMessageSignature(SigningKey("k")).sign(&request, at: Self.date)
        }
        #expect(error?.code == .bodyNotReplayable)
        try await HTTPMessageSignature(SigningKey("k"), covering: ["@method"]).sign(&request, at: Self.date)
        #expect(request.headers.contains("Signature"))
        #expect(body.isReadable)
    }

    @Test func quotesInAKeyIDAreEscaped() async throws {
        var request = try request()
        try await HTTPMessageSignature(SigningKey("k"), keyID: #"a"b\c"#, covering: ["@method"])
            .sign(&request, at: Self.date)
        #expect(request.headers["Signature-Input"]?.hasSuffix(#";keyid="a\"b\\c""#) == true)
    }
}
