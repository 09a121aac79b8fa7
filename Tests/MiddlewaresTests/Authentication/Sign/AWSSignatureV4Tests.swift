import Foundation
import InterceptorsSyntax
import InterceptorsTestSupport
import Testing

@testable import InterceptorsAuthentication
@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct AWSSignatureV4Tests {
    private static let example = AWSCredentials(
        accessKeyID: "AKIDEXAMPLE",
        secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
    )
    private static let s3Example = AWSCredentials(
        accessKeyID: "AKIAIOSFODNN7EXAMPLE",
        secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
    )
    private static let suiteDate = CivilTime(year: 2015, month: 8, day: 30, hour: 12, minute: 36, second: 0).date
    private static let s3Date = CivilTime(year: 2013, month: 5, day: 24, hour: 0, minute: 0, second: 0).date

    private func suiteSigner(
        _ credentials: AWSCredentials = Self.example,
        presignedFor validity: Duration? = nil
    ) -> AWSSignatureV4 {
        AWSSignatureV4(region: "us-east-1", service: "service", validity: validity) { credentials }
    }

    private func signed(
        _ request: HTTPRequest,
        by signer: AWSSignatureV4,
        at date: Date = Self.suiteDate
    ) async throws -> HTTPRequest {
        try await signed(request, by: RequestSigner { try await signer.sign(&$0, at: $1) }, at: date)
    }

    private func signed(
        _ request: HTTPRequest,
        by signer: RequestSigner,
        at date: Date = Self.suiteDate
    ) async throws -> HTTPRequest {
        let recorder = Recorder()
        let interceptor = AnyInterceptor.sign(signer, origins: [Origin(request.url)!], time: TimeSource(now: { date }))
        _ = try await InterceptorChain([interceptor], transport: recorder).send(request)
        return try #require(recorder.requests.first)
    }

    @Test(arguments: SignatureVector.all) func vectorsOfTheSuite(vector: SignatureVector) async throws {
        let request = HTTPRequest(
            method: vector.method,
            url: try url("https://example.amazonaws.com" + vector.target),
            headers: vector.fields,
            body: HTTPBody(vector.body)
        )
        var signer = suiteSigner()
        signer.decodesPath = vector.decodesFirst
        let sent = try await signed(request, by: signer)
        #expect(
            sent.headers[.authorization]
                == "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders="
                + "\(vector.signedHeaders), Signature=\(vector.signature)"
        )
        #expect(sent.headers["X-Amz-Date"] == "20150830T123600Z")
    }

    @Test func sessionTokenIsSentAndSigned() async throws {
        var credentials = Self.example
        credentials.sessionToken = "6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267"
        let request = HTTPRequest(url: try url("https://example.amazonaws.com/"))
        let sent = try await signed(request, by: suiteSigner(credentials))
        #expect(sent.headers["X-Amz-Security-Token"] == credentials.sessionToken)
        #expect(
            sent.headers[.authorization]?.hasSuffix(
                "SignedHeaders=host;x-amz-date;x-amz-security-token, "
                    + "Signature=07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8"
            ) == true
        )
        let inQuery = try await signed(
            request,
            by: suiteSigner(credentials, presignedFor: .seconds(3600))
        )
        #expect(
            inQuery.url.query()?.hasSuffix(
                "X-Amz-Signature=7ff2b50b376cb4d151970630573d6291dc128cc5c2a12ffb237f73cc53f67b6c"
            ) == true
        )
    }

    @Test(arguments: [
        ("/", "e93c787ed7f371d5c6b165c1b38ede9550f4dce4144713e844b25b7192d3865d"),
        (
            "/?Param-3=Value3&Param=Value2&%E1%88%B4=Value1",
            "c5f1848ceec943ac2ca68ee720460c23aaae30a2300586597ada94c4a65e4787"
        ),
    ])
    func signatureInTheQuery(target: String, signature: String) async throws {
        let request = HTTPRequest(url: try url("https://example.amazonaws.com" + target))
        let sent = try await signed(request, by: suiteSigner(presignedFor: .seconds(3600)))
        #expect(sent.headers.isEmpty)
        let query = try #require(sent.url.query(percentEncoded: true))
        #expect(query.hasSuffix("&X-Amz-Signature=\(signature)"))
        #expect(query.contains("X-Amz-Credential=AKIDEXAMPLE%2F20150830%2Fus-east-1%2Fservice%2Faws4_request"))
    }

    // The examples in Amazon S3's documentation.
    @Test(
        arguments: [
            (
                "GET", "/test.txt", ["Range": "bytes=0-9"], "",
                "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
            ),
            (
                "PUT", "/test$file.text",
                ["Date": "Fri, 24 May 2013 00:00:00 GMT", "X-Amz-Storage-Class": "REDUCED_REDUNDANCY"],
                "Welcome to Amazon S3.", "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
            ),
            ("GET", "/?lifecycle", [:], "", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
            (
                "GET", "/?prefix=J&max-keys=2", [:], "",
                "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
            ),
        ] as [(String, String, HTTPFields, String, String)]
    )
    func examplesOfS3(method: String, target: String, fields: HTTPFields, body: String, signature: String) async throws
    {
        let request = HTTPRequest(
            method: try #require(HTTPRequest.Method(rawValue: method)),
            url: try url("https://examplebucket.s3.amazonaws.com" + target),
            headers: fields,
            body: HTTPBody(body)
        )
        let signer: RequestSigner = .awsV4(region: "us-east-1", service: "s3") { Self.s3Example }
        let sent = try await signed(request, by: signer, at: Self.s3Date)
        #expect(sent.headers[.authorization]?.hasSuffix("Signature=\(signature)") == true)
    }

    @Test(arguments: [(-1, 1), (0, 1), (604_800, 604_800), (604_801, 604_800), (.max, 604_800)] as [(Int64, Int64)])
    func presignedURLIsValidForASecondToSevenDays(seconds: Int64, expected: Int64) async throws {
        let signer = suiteSigner(presignedFor: .seconds(seconds))
        let sent = try await signed(HTTPRequest(url: try url("https://example.amazonaws.com/")), by: signer)
        #expect(sent.url.query()?.contains("&X-Amz-Expires=\(expected)&") == true)
    }

    @Test func presignedURLOfS3() async throws {
        let signer: RequestSigner = .awsV4(region: "us-east-1", service: "s3", presignedFor: .seconds(86_400)) {
            Self.s3Example
        }
        let request = HTTPRequest(url: try url("https://examplebucket.s3.amazonaws.com/test.txt"))
        let sent = try await signed(request, by: signer, at: Self.s3Date)
        #expect(
            sent.url.absoluteString.hasSuffix(
                "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
            )
        )
    }

    @Test func plusInAQueryMeansOneToEveryone() async throws {
        let signer: RequestSigner = .awsV4(region: "r", service: "s3") { Self.example }
        let plus = try await signed(HTTPRequest(url: try url("https://b.example/?a=b+c")), by: signer)
        let encoded = try await signed(HTTPRequest(url: try url("https://b.example/?a=b%2Bc")), by: signer)
        #expect(plus.url == encoded.url)
        #expect(plus.headers[.authorization] == encoded.headers[.authorization])
    }

    @Test func plusInAPathMeansOneToEveryS3() async throws {
        let signer: RequestSigner = .awsV4(region: "r", service: "s3") { Self.example }
        let plus = try await signed(HTTPRequest(url: try url("https://b.example/a+b?c=d")), by: signer)
        #expect(plus.url.absoluteString == "https://b.example/a%2Bb?c=d")
        let encoded = try await signed(HTTPRequest(url: plus.url), by: signer)
        #expect(plus.headers[.authorization] == encoded.headers[.authorization])
        let elsewhere = try await signed(
            HTTPRequest(url: try url("https://example.amazonaws.com/a+b")),
            by: suiteSigner()
        )
        #expect(elsewhere.url.path(percentEncoded: true) == "/a+b")
    }

    @Test func portThatIsNotTheSchemesOwnAndAHostFieldAreSigned() throws {
        func authority(_ text: String, _ fields: HTTPFields = [:]) throws -> String {
            WireTarget(HTTPRequest(url: try url(text), headers: fields)).authority
        }
        #expect(try authority("http://Minio:9000/b") == "minio:9000")
        #expect(try authority("https://h:443/b") == "h")
        #expect(try authority("http://[::1]:80/b") == "[::1]")
        #expect(try authority("http://127.0.0.1:9000/", [.host: "bucket.example"]) == "bucket.example")
    }

    @Test func oneShotBodyIsRefusedUntouchedAndPassesUnsignedPayload() async throws {
        let target = try url("https://b.s3.amazonaws.com/key")
        let body = HTTPBody.oneShot(Chunks(["a"]))
        let request = HTTPRequest(method: .put, url: target, body: body)
        let strict: RequestSigner = .awsV4(region: "r", service: "s3") { Self.example }
        let error = await #expect(throws: TransportError.self) { try await signed(request, by: strict) }
        #expect(error?.code == .bodyNotReplayable)
        #expect(body.isReadable)
        let lax: RequestSigner = .awsV4(region: "r", service: "s3", signsBody: false) { Self.example }
        let sent = try await signed(request, by: lax)
        #expect(sent.headers["X-Amz-Content-Sha256"] == "UNSIGNED-PAYLOAD")
        #expect(body.isReadable)
    }

    @Test func restartableStreamIsSignedAsItsBytesAre() async throws {
        let target = try url("https://b.s3.amazonaws.com/key")
        let signer: RequestSigner = .awsV4(region: "r", service: "s3") { Self.example }
        let stream = HTTPBody.restartable { Chunks(["Welcome to ", "Amazon S3."]) }
        let bytes = try await signed(HTTPRequest(method: .put, url: target, body: "Welcome to Amazon S3."), by: signer)
        let streamed = try await signed(HTTPRequest(method: .put, url: target, body: stream), by: signer)
        #expect(bytes.headers[.authorization] == streamed.headers[.authorization])
        #expect(try await streamed.body.collect(upTo: 100) == Data("Welcome to Amazon S3.".utf8))
    }

    @Test func whatATransportOrATracerSetsIsNotSigned() async throws {
        let fields: HTTPFields = [
            .acceptEncoding: "gzip", .contentLength: "0", .userAgent: "x", .traceparent: "00-…", .connection: "close",
        ]
        let request = HTTPRequest(url: try url("https://example.amazonaws.com/"), headers: fields)
        let sent = try await signed(request, by: suiteSigner())
        #expect(sent.headers[.authorization]?.hasSuffix(SignatureVector.vanilla) == true)
    }

    @Test func requestWithAnAuthorizationOfItsOwnKeepsIt() async throws {
        let request = HTTPRequest(url: try url("https://a.example/"), headers: [.authorization: "Basic x"])
        #expect(try await signed(request, by: suiteSigner()).headers == [.authorization: "Basic x"])
    }

    @Test func credentialsAreAskedForEachRequest() async throws {
        let asked = Tally()
        let signer: RequestSigner = .awsV4(region: "r", service: "s") {
            AWSCredentials(accessKeyID: "key-\(asked.count())", secretAccessKey: "x")
        }
        let recorder = Recorder()
        let request = HTTPRequest(url: try url("https://a.example/"))
        let chain = InterceptorChain([sendTwice, .sign(signer, origins: [Origin(request.url)!])], transport: recorder)
        _ = try await chain.send(request)
        let sent = recorder.requests.compactMap { $0.headers[.authorization] }
        #expect(sent.map { $0.contains("key-1/") } == [true, false])
        #expect(sent.map { $0.contains("key-2/") } == [false, true])
    }

    @Test func secretsAreInNoDescriptionAndNoDump() {
        let credentials = AWSCredentials(accessKeyID: "ID", secretAccessKey: "s3cr3t", sessionToken: "t0ken")
        let signer: RequestSigner = .awsV4(region: "r", service: "s") { credentials }
        var dumped = ""
        dump(credentials, to: &dumped)
        dump(AnyInterceptor.sign(signer), to: &dumped)
        for text in ["\(credentials)", String(reflecting: credentials), String(reflecting: signer), dumped] {
            #expect(!text.contains("s3cr3t") && !text.contains("t0ken"))
        }
    }
}
