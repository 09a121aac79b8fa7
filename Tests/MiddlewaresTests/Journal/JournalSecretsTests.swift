import Foundation
import Middlewares
import TestSupport
import Testing
import TransportTesting

@Suite(.againstHanging) struct JournalSecretsTests {
    private static let secret = "s3cr3tV4lue"

    private static let names = [
        "Authorization", "Cookie", "X-Api-Key", "Proxy-Authorization", "X-Auth-Token", "X-Session", "X-CSRF-Token",
        "X-Amz-Security-Token", "X-Access-Token", "X-Client-Secret", "X-User-Password", "X-JWT", "X-Refresh-Token",
        "X-Signature", "X-Forwarded-User", "X-PIN", "X-OTP", "Ocp-Apim-Subscription-Key", "X-Credential", "X-SAML",
    ]

    private static let items = [
        "token", "access_token", "api_key", "apiKey", "password", "code", "sig", "signature", "client_secret",
        "session",
        "jwt", "otp", "pin", "refresh_token", "X-Amz-Signature", "X-Amz-Credential", "key", "auth", "sid",
        "user[password]",
    ]

    /// Requests, each with a secret in another place.
    private static func requests() throws -> [HTTPRequest] {
        var requests: [HTTPRequest] = []
        func add(_ url: String = "https://a.example/", _ change: (inout HTTPRequest) -> Void = { _ in }) throws {
            var request = try HTTPRequest(string: url)
            change(&request)
            requests.append(request)
        }
        for name in names {
            for value in [secret, "Bearer \(secret)", "a=\(secret); b=\(secret)"] {
                try add { $0.headerFields[HTTPField.Name(name)!] = value }
            }
        }
        for item in items {
            let encoded = item.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? item
            try add("https://a.example/?a=1&\(encoded)=\(secret)")
            try add("https://a.example/p;\(encoded)=\(secret)/q")
            let bodies = [
                #"{"\#(item)":"\#(secret)"}"#, #"{"a":[{"\#(item)":["\#(secret)"]}]}"#, "a=1&\(encoded)=\(secret)",
                "<\(item.prefix(while: { $0 != "[" }))>\(secret)</\(item.prefix(while: { $0 != "[" }))>",
            ]
            for body in bodies.prefix(item == "code" ? 1 : 3) {
                try add {
                    $0.method = .post
                    $0.body = HTTPBody(body)
                }
            }
        }
        try add { $0.headerFields["X-Note"] = "Bearer \(secret)" }
        try add { $0.headerFields[.referer] = "https://a.example/?token=\(secret)" }
        try add("https://a.example/?next=https%3A%2F%2Fb.example%2F%3Ftoken%3D\(secret)")
        return requests
    }

    @Test func noSecretIsInAnyFormOfACall() async throws {
        let requests = try Self.requests()
        #expect(requests.count >= 150)
        let secret = Self.secret
        let journal = Journal()
        // Echoes the fields and the body, and every third request fails.
        let stub = StubTransport { request in
            if request.url.path.isEmpty { throw Broken(place: secret) }
            return HTTPResponse(status: 200, headerFields: request.headerFields, body: request.body, url: request.url)
        }
        let noting: AnyInterceptor = .intercept { request, next in
            request.note("The token=\(secret) is used.")
            request.note(JournalNote("odd", "Authorization: Bearer \(secret)"))
            return try await next(request)
        }
        let chain = InterceptorChain(
            [noting, .validateStatus(), .followRedirects(), .retry(1)],
            transport: stub,
            journal: journal
        )
        for request in requests { _ = try await chain.send(request) }
        await #expect(throws: (any Error).self) { try await chain.send(HTTPRequest(string: "https://a.example")) }
        #expect(journal.calls.count == requests.count + 1)
        for call in journal.calls {
            var dumped = ""
            dump(call, to: &dumped)
            let json = String(decoding: try JSONEncoder().encode(call), as: UTF8.self)
            for text in ["\(call)", String(reflecting: call), call.explained, json, dumped, "\(journal)"] {
                #expect(!text.contains(secret), "\(call.explained)")
            }
        }
    }

    @Test func errorsShowNoSecret() async throws {
        struct Own: Error, CustomStringConvertible {
            let description: String
        }
        let secret = Self.secret
        let errors: [any Error] = [
            Own(description: "token=\(secret)"), Own(description: #"{"password":"\#(secret)"}"#),
            Own(description: "Authorization: Bearer \(secret)"), Broken(place: secret),
            TransportError(.connectionLost, "It failed for https://a.example/?token=\(secret)"),
            URLError(.badURL, userInfo: ["NSErrorFailingURLStringKey": "https://a.example/?token=\(secret)"]),
        ]
        for error in errors {
            let journal = Journal()
            let stub = StubTransport { _ in throw error }
            let chain = InterceptorChain([.retry(1)], transport: stub, journal: journal)
            await #expect(throws: (any Error).self) { try await chain.send(HTTPRequest(string: "https://a.example/")) }
            let call = try #require(journal.calls.first)
            #expect(call.root?.error != nil)
            #expect(!"\(call)\(call.explained)".contains(secret), "\(call.explained)")
        }
    }

    @Test func secretsAreShownOnlyWhenTheJournalsNameSaysSo() async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 204) }
        let journal = Journal.showingSecrets()
        let chain = InterceptorChain([], transport: stub, journal: journal)
        _ = try await chain.send(HTTPRequest(string: "https://a.example/?token=\(Self.secret)"))
        #expect(journal.calls[0].explained.contains(Self.secret))
    }

    @Test func furtherNamesAreRedacted() async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 204) }
        let journal = Journal(redaction: .standard.adding(names: ["Frob"]))
        let chain = InterceptorChain([], transport: stub, journal: journal)
        var request = try HTTPRequest(string: "https://a.example/?frob=\(Self.secret)")
        request.headerFields["X-Frob"] = Self.secret
        _ = try await chain.send(request)
        #expect(!"\(journal.calls)".contains(Self.secret))
    }
}
