import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsRecordings

@Suite(.againstHanging) struct RecordingSecretsTests {
    private static let secret = "s3cr3tV4lue"

    private static let names = [
        "Authorization", "Cookie", "X-Api-Key", "Proxy-Authorization", "X-Auth-Token", "X-Session", "X-CSRF-Token",
        "X-Amz-Security-Token", "X-Access-Token", "X-Client-Secret", "X-User-Password", "X-JWT", "X-Refresh-Token",
        "X-Signature", "X-OTP", "Ocp-Apim-Subscription-Key",
    ]
    private static let items = [
        "token", "access_token", "api_key", "apiKey", "password", "sig", "signature", "client_secret", "jwt",
        "otp", "refresh_token", "X-Amz-Signature", "X-Amz-Credential",
    ]

    /// Requests, each with a secret in another place.
    private static func requests(_ secret: String) throws -> [HTTPRequest] {
        var requests: [HTTPRequest] = []
        func add(
            _ path: String = "/",
            body: String = "",
            type: String? = nil,
            _ field: String? = nil,
            _ value: String = ""
        )
            throws
        {
            var request = HTTPRequest(method: .post, url: try tapeURL(path), body: HTTPBody(body))
            if let type { request.headers[.contentType] = type }
            if let field { request.headers[try #require(HTTPField.Name(field))] = value }
            request.headers["X-Number"] = String(requests.count)
            requests.append(request)
        }
        for name in names {
            for value in [secret, "Bearer \(secret)", "a=\(secret); b=\(secret)"] { try add("/\(name)", name, value) }
        }
        for item in items {
            try add("/\(item)?a=1&\(item)=\(secret)")
            try add("/p;\(item)=\(secret)/q")
            try add(body: #"{"\#(item)":"\#(secret)"}"#, type: "application/json")
            try add(body: #"{"a":[{"\#(item)":["\#(secret)"]}]}"#, type: "application/json")
            try add(body: "a=1&\(item)=\(secret)", type: "application/x-www-form-urlencoded")
            try add(
                body: "--b\r\nContent-Disposition: form-data; name=\"\(item)\"\r\n\r\n\(secret)\r\n--b--\r\n",
                type: "multipart/form-data; boundary=b"
            )
        }
        try add("/referer", "Referer", "https://a.example/?token=\(secret)")
        try add("/?next=https%3A%2F%2Fb.example%2F%3Ftoken%3D\(secret)")
        return requests
    }

    @Test(arguments: [false, true]) func aRecordingNeverHoldsASecret(isStream: Bool) async throws {
        let requests = try Self.requests(Self.secret)
        #expect(requests.count >= 120)
        let tape = try TapeFile()
        let server = StubTransport { request in
            HTTPResponse(status: 200, headers: request.headers, body: request.body)
        }
        let recording = tape.recording(.all)
        for var request in requests {
            request.context.responseBody = isStream ? .streamed : .buffered
            _ = try await recording.send(request, over: server).body.collect(upTo: 1 << 20)
        }
        let broken = StubTransport.stub(.failure(Broken(place: "token=" + Self.secret)))
        await #expect(throws: Broken.self) { try await recording.get("/broken", over: broken) }
        for exchange in try TapeIndex.ofFile(tape.url).exchanges {
            let texts = [exchange.request.body ?? Data(), exchange.response?.content ?? Data()]
            for text in texts.map({ String(decoding: $0, as: UTF8.self) }) {
                #expect(!text.contains(Self.secret), "\(exchange.name)")
            }
        }
        func expectNoSecret(_ file: URL) throws {
            let text = String(decoding: try #require(FileManager.default.contents(atPath: file.path)), as: UTF8.self)
            #expect(text.contains("REDACTED"))
            for form in [Self.secret, Data(Self.secret.utf8).base64EncodedString()] { #expect(!text.contains(form)) }
        }
        try expectNoSecret(tape.side)
        try recording.finish()
        try expectNoSecret(tape.url)

        // With other secrets, or none, the recording plays.
        let played = tape.recording(.none)
        for request in try Self.requests("0ther") {
            let response = try await played.send(request, over: NoServer())
            #expect(response.headers["X-Number"] == request.headers["X-Number"], "\(request)")
        }
    }

    /// Another program's archive, in which a person has found secrets.
    private static let foreign = #"""
        {"log": {"creator": {"name": "WebInspector"}, "entries": [{
          "startedDateTime": "2026-03-01T10:00:00Z",
          "request": {"method": "GET", "url": "https://api.example.com/old?token=\#(secret)",
            "headers": [{"name": "Authorization", "value": "Bearer \#(secret)"}]},
          "response": {"status": 200, "statusText": "\#(secret)",
            "headers": [{"name": "Set-Cookie", "value": "sid=\#(secret)"}],
            "content": {"size": 10, "mimeType": "application/json", "text": "{\"access_token\":\"\#(secret)\"}"}}
        }]}}
        """#

    @Test func anotherProgramsSecretsAreNeitherKeptNorNamed() async throws {
        let tape = try TapeFile()
        try Data(Self.foreign.utf8).write(to: tape.url)
        let recording = tape.recording(.new)
        try await recording.get("/new", over: StubTransport.stub(.text("new")))
        let unused = try problems { try recording.finish() }
        #expect(unused.unused.count == 1 && !"\(unused)".contains(Self.secret))
        let text = String(decoding: try #require(tape.bytes), as: UTF8.self)
        #expect(text.contains("/old") && text.contains("/new") && !text.contains(Self.secret))
        let played = tape.recording(.none, expiring: .seconds(86_400))
        try await played.get("/old?token=other")
    }

    @Test func theHookReplacesWhatNoRuleKnows() async throws {
        let tape = try TapeFile()
        func recording(_ mode: Recording.Mode) -> Recording {
            Recording(at: tape.url, mode: mode, environment: [:]) { $0.replacing("Ada", with: "someone") }
        }
        let first = recording(.all)
        try await first.get("/users/Ada", over: StubTransport.stub(.text("Hello, Ada!")))
        try first.finish()
        #expect(!String(decoding: try #require(tape.bytes), as: UTF8.self).contains("Ada"))
        #expect(try await recording(.none).get("/users/Ada") == "Hello, someone!")
    }
}
