import Foundation
import HTTPSyntax
import TestSupport
import Testing

@testable import Middlewares

/// A case of AWS's test vectors (aws-sig-v4-test-suite). All are for 2015-08-30 12:36:00 UTC, us-east-1, `service`.
struct SignatureVector: Sendable, CustomTestStringConvertible {
    let name: String
    var method: HTTPRequest.Method = .get
    var target = "/"
    var fields: HTTPFields = [:]
    var body = ""
    var signedHeaders = "host;x-amz-date"
    let signature: String
    // The suite sends these paths unencoded, which a URL can't express. The signer decodes them first.
    var decodesFirst = false

    var testDescription: String { name }

    static let vanilla = "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
    static let unreserved = "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

    static let all: [SignatureVector] = [
        Self(name: "get-vanilla", signature: vanilla),
        Self(name: "get-vanilla without a path", target: "", signature: vanilla),
        Self(name: "get-relative", target: "/example/..", signature: vanilla),
        Self(name: "get-relative-relative", target: "/example1/example2/../..", signature: vanilla),
        Self(name: "get-slash", target: "//", signature: vanilla),
        Self(name: "get-slash-dot-slash", target: "/./", signature: vanilla),
        Self(
            name: "get-slash-pointless-dot",
            target: "/./example",
            signature: "ef75d96142cf21edca26f06005da7988e4f8dc83a165a80865db7089db637ec5"
        ),
        Self(
            name: "get-slashes",
            target: "//example//",
            signature: "9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84"
        ),
        Self(
            name: "get-space",
            target: "/example%20space/",
            signature: "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741",
            decodesFirst: true
        ),
        Self(
            name: "get-utf8",
            target: "/%E1%88%B4",
            signature: "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85",
            decodesFirst: true
        ),
        Self(
            name: "get-unreserved",
            target: "/\(unreserved)",
            signature: "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"
        ),
        Self(
            name: "get-header-key-duplicate",
            fields: ["My-Header1": "value2", "my-header1": "value2", "MY-HEADER1": "value1"],
            signedHeaders: "host;my-header1;x-amz-date",
            signature: "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"
        ),
        Self(
            name: "get-header-value-multiline",
            fields: ["My-Header1": "value1,value2,value3"],
            signedHeaders: "host;my-header1;x-amz-date",
            signature: "ba17b383a53190154eb5fa66a1b836cc297cc0a3d70a5d00705980573d8ff790"
        ),
        Self(
            name: "get-header-value-order",
            fields: ["My-Header1": "value4", "my-header1": "value1", "My-header1": "value3", "my-Header1": "value2"],
            signedHeaders: "host;my-header1;x-amz-date",
            signature: "08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01"
        ),
        Self(
            name: "get-header-value-trim",
            fields: ["My-Header1": "  value1 ", "My-Header2": " \"a   b   c\""],
            signedHeaders: "host;my-header1;my-header2;x-amz-date",
            signature: "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"
        ),
        Self(
            name: "get-vanilla-empty-query-key",
            target: "/?Param1=value1",
            signature: "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb"
        ),
        Self(name: "get-vanilla-query", target: "/?", signature: vanilla),
        Self(
            name: "get-vanilla-query-order-key-case",
            target: "/?Param2=value2&Param1=value1",
            signature: "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"
        ),
        Self(
            name: "get-vanilla-query-order-encoded",
            target: "/?Param-3=Value3&Param=Value2&%E1%88%B4=Value1",
            signature: "371d3713e185cc334048618a97f809c9ffe339c62934c032af5a0e595648fcac"
        ),
        Self(
            name: "get-vanilla-query-unreserved",
            target: "/?\(unreserved)=\(unreserved)",
            signature: "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197"
        ),
        Self(
            name: "get-vanilla-utf8-query",
            target: "/?%E1%88%B4=bar",
            signature: "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"
        ),
        Self(
            name: "post-vanilla",
            method: .post,
            signature: "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"
        ),
        Self(
            name: "post-header-key-sort",
            method: .post,
            fields: ["My-Header1": "value1"],
            signedHeaders: "host;my-header1;x-amz-date",
            signature: "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"
        ),
        Self(
            name: "post-header-value-case",
            method: .post,
            fields: ["My-Header1": "VALUE1"],
            signedHeaders: "host;my-header1;x-amz-date",
            signature: "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d"
        ),
        Self(
            name: "post-vanilla-query",
            method: .post,
            target: "/?Param1=value1",
            signature: "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11"
        ),
        Self(
            name: "post-vanilla-query-nonunreserved",
            method: .post,
            target: "/?%40%23%24%25%5E=&+=/,?%3E%3C%60%22;:%5C%7C%5D%5B%7B%7D",
            signature: "66c82657c86e26fb25238d0e69f011edc4c6df5ae71119d7cb98ed9b87393c1e"
        ),
        Self(
            name: "post-vanilla-query-space",
            method: .post,
            target: "/?p=",
            signature: "e71688addb58a26418614085fb730ba3faa623b461c17f48f2fbdb9361b94a9b"
        ),
        Self(
            name: "post-x-www-form-urlencoded",
            method: .post,
            fields: [.contentType: "application/x-www-form-urlencoded"],
            body: "Param1=value1",
            signedHeaders: "content-type;host;x-amz-date",
            signature: "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"
        ),
        Self(
            name: "post-x-www-form-urlencoded-parameters",
            method: .post,
            fields: [.contentType: "application/x-www-form-urlencoded; charset=utf8"],
            body: "Param1=value1",
            signedHeaders: "content-type;host;x-amz-date",
            signature: "1a72ec8f64bd914b0e42e42607c7fbce7fb2c7465f63e3092b3b0d39fa77a6fe"
        ),
    ]
}

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
        AWSSignatureV4(region: "us-east-1", service: "service", presignedFor: validity) { credentials }
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
            headerFields: vector.fields,
            body: HTTPBody(vector.body)
        )
        var signer = suiteSigner()
        signer.pathRules.decodesFirst = vector.decodesFirst
        let sent = try await signed(request, by: signer)
        #expect(
            sent.headerFields[.authorization]
                == "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders="
                + "\(vector.signedHeaders), Signature=\(vector.signature)"
        )
        #expect(sent.headerFields["X-Amz-Date"] == "20150830T123600Z")
    }

    @Test func sessionTokenIsSentAndSigned() async throws {
        var credentials = Self.example
        credentials.sessionToken = "6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267"
        let request = HTTPRequest(url: try url("https://example.amazonaws.com/"))
        let sent = try await signed(request, by: suiteSigner(credentials))
        #expect(sent.headerFields["X-Amz-Security-Token"] == credentials.sessionToken)
        #expect(
            sent.headerFields[.authorization]?.hasSuffix(
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
        #expect(sent.headerFields.isEmpty)
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
            headerFields: fields,
            body: HTTPBody(body)
        )
        let signer: RequestSigner = .awsV4(region: "us-east-1", service: "s3", credentials: Self.s3Example)
        let sent = try await signed(request, by: signer, at: Self.s3Date)
        #expect(sent.headerFields[.authorization]?.hasSuffix("Signature=\(signature)") == true)
    }

    @Test(arguments: [(-1, 1), (0, 1), (604_800, 604_800), (604_801, 604_800), (.max, 604_800)] as [(Int64, Int64)])
    func presignedURLIsValidForASecondToSevenDays(seconds: Int64, expected: Int64) async throws {
        let signer = suiteSigner(presignedFor: .seconds(seconds))
        let sent = try await signed(HTTPRequest(url: try url("https://example.amazonaws.com/")), by: signer)
        #expect(sent.url.query()?.contains("&X-Amz-Expires=\(expected)&") == true)
    }

    @Test func presignedURLOfS3() async throws {
        let signer: RequestSigner = .awsV4(
            region: "us-east-1",
            service: "s3",
            presignedFor: .seconds(86_400),
            credentials: Self.s3Example
        )
        let request = HTTPRequest(url: try url("https://examplebucket.s3.amazonaws.com/test.txt"))
        let sent = try await signed(request, by: signer, at: Self.s3Date)
        #expect(
            sent.url.absoluteString.hasSuffix(
                "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
            )
        )
    }

    @Test func plusInAQueryMeansOneToEveryone() async throws {
        let signer: RequestSigner = .awsV4(region: "r", service: "s3", credentials: Self.example)
        let plus = try await signed(HTTPRequest(url: try url("https://b.example/?a=b+c")), by: signer)
        let encoded = try await signed(HTTPRequest(url: try url("https://b.example/?a=b%2Bc")), by: signer)
        #expect(plus.url == encoded.url)
        #expect(plus.headerFields[.authorization] == encoded.headerFields[.authorization])
    }

    @Test func plusInAPathMeansOneToEveryS3() async throws {
        let signer: RequestSigner = .awsV4(region: "r", service: "s3", credentials: Self.example)
        let plus = try await signed(HTTPRequest(url: try url("https://b.example/a+b?c=d")), by: signer)
        #expect(plus.url.absoluteString == "https://b.example/a%2Bb?c=d")
        let encoded = try await signed(HTTPRequest(url: plus.url), by: signer)
        #expect(plus.headerFields[.authorization] == encoded.headerFields[.authorization])
        let elsewhere = try await signed(
            HTTPRequest(url: try url("https://example.amazonaws.com/a+b")),
            by: suiteSigner()
        )
        #expect(elsewhere.url.path(percentEncoded: true) == "/a+b")
    }

    @Test func portThatIsNotTheSchemesOwnAndAHostFieldAreSigned() throws {
        func authority(_ text: String, _ fields: HTTPFields = [:]) throws -> String {
            WireTarget(HTTPRequest(url: try url(text), headerFields: fields)).authority
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
        let strict: RequestSigner = .awsV4(region: "r", service: "s3", credentials: Self.example)
        let error = await #expect(throws: SigningError.self) { try await signed(request, by: strict) }
        #expect(error?.code == .bodyNotReplayable)
        #expect(body.isReadable)
        let lax: RequestSigner = .awsV4(region: "r", service: "s3", signsBody: false, credentials: Self.example)
        let sent = try await signed(request, by: lax)
        #expect(sent.headerFields["X-Amz-Content-Sha256"] == "UNSIGNED-PAYLOAD")
        #expect(body.isReadable)
    }

    @Test func restartableStreamIsSignedAsItsBytesAre() async throws {
        let target = try url("https://b.s3.amazonaws.com/key")
        let signer: RequestSigner = .awsV4(region: "r", service: "s3", credentials: Self.example)
        let stream = HTTPBody.restartable { Chunks(["Welcome to ", "Amazon S3."]) }
        let bytes = try await signed(HTTPRequest(method: .put, url: target, body: "Welcome to Amazon S3."), by: signer)
        let streamed = try await signed(HTTPRequest(method: .put, url: target, body: stream), by: signer)
        #expect(bytes.headerFields[.authorization] == streamed.headerFields[.authorization])
        #expect(try await streamed.body.collect(upTo: 100) == Data("Welcome to Amazon S3.".utf8))
    }

    @Test func whatATransportOrATracerSetsIsNotSigned() async throws {
        let fields: HTTPFields = [
            .acceptEncoding: "gzip", .contentLength: "0", .userAgent: "x", .traceparent: "00-…", .connection: "close",
        ]
        let request = HTTPRequest(url: try url("https://example.amazonaws.com/"), headerFields: fields)
        let sent = try await signed(request, by: suiteSigner())
        #expect(sent.headerFields[.authorization]?.hasSuffix(SignatureVector.vanilla) == true)
    }

    @Test func requestWithAnAuthorizationOfItsOwnKeepsIt() async throws {
        let request = HTTPRequest(url: try url("https://a.example/"), headerFields: [.authorization: "Basic x"])
        #expect(try await signed(request, by: suiteSigner()).headerFields == [.authorization: "Basic x"])
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
        let sent = recorder.requests.compactMap { $0.headerFields[.authorization] }
        #expect(sent.map { $0.contains("key-1/") } == [true, false])
        #expect(sent.map { $0.contains("key-2/") } == [false, true])
    }

    @Test func secretsAreInNoDescriptionAndNoDump() {
        let credentials = AWSCredentials(accessKeyID: "ID", secretAccessKey: "s3cr3t", sessionToken: "t0ken")
        let signer: RequestSigner = .awsV4(region: "r", service: "s", credentials: credentials)
        var dumped = ""
        dump(credentials, to: &dumped)
        dump(AnyInterceptor.sign(signer), to: &dumped)
        for text in ["\(credentials)", String(reflecting: credentials), String(reflecting: signer), dumped] {
            #expect(!text.contains("s3cr3t") && !text.contains("t0ken"))
        }
    }
}
