import Foundation
import Interceptors
import InterceptorsInsight
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@Suite(.againstHanging) struct JournalSecretsTests {
    private static let secret = PlantedSecret.value

    private static func requests() throws -> [HTTPRequest] {
        try PlantedSecret.all.map { planted in
            var request = try HTTPRequest(string: planted.url)
            if let (name, value) = planted.field { request.headers[try #require(HTTPField.Name(name))] = value }
            if let body = planted.body {
                request.method = .post
                request.body = HTTPBody(body)
            }
            return request
        }
    }

    @Test func noSecretIsInAnyFormOfACall() async throws {
        let requests = try Self.requests()
        #expect(requests.count >= 150)
        let secret = Self.secret
        let journal = Journal()
        // Echoes the fields and the body, and every third request fails.
        let stub = StubTransport { request in
            if request.url.path.isEmpty { throw Broken(place: secret) }
            return HTTPResponse(status: 200, headers: request.headers, body: request.body, url: request.url)
        }
        let noting: AnyInterceptor = .intercept { request, next in
            request.note("The token=\(secret) is used.")
            request.note(CallNote("odd", "Authorization: Bearer \(secret)"))
            return try await next(request)
        }
        let chain = InterceptorChain(
            [noting, .validateStatus(), .followRedirects(), .retry(maxAttempts: 1)],
            transport: stub,
            observer: journal
        )
        for request in requests { _ = try await chain.send(request) }
        await #expect(throws: (any Error).self) { try await chain.send(HTTPRequest(string: "https://a.example")) }
        #expect(journal.calls.count == requests.count + 1)
        for call in journal.calls {
            var dumped = ""
            dump(call, to: &dumped)
            let stored = try #require(call.root).storedTexts
            for text in ["\(call)", String(reflecting: call), call.explained, dumped, "\(journal)"] + stored {
                #expect(!text.contains(secret), "\(call.explained)")
            }
        }
        #expect(!String(decoding: journal.har(), as: UTF8.self).contains(secret))
        #expect(!String(decoding: journal.page(), as: UTF8.self).contains(secret))
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
            let chain = InterceptorChain([.retry(maxAttempts: 1)], transport: stub, observer: journal)
            await #expect(throws: (any Error).self) { try await chain.send(HTTPRequest(string: "https://a.example/")) }
            let call = try #require(journal.calls.first)
            #expect(call.root?.error != nil)
            #expect(!"\(call)\(call.explained)".contains(secret), "\(call.explained)")
        }
    }

    @Test func secretsAreShownOnlyWhenTheJournalsNameSaysSo() async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 204) }
        let journal = Journal(redaction: nil)
        let chain = InterceptorChain([], transport: stub, observer: journal)
        _ = try await chain.send(HTTPRequest(string: "https://a.example/?token=\(Self.secret)"))
        #expect(journal.calls[0].explained.contains(Self.secret))
    }

    @Test func furtherNamesAreRedacted() async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 204) }
        let journal = Journal(redaction: .standard.adding(names: ["Frob"]))
        let chain = InterceptorChain([], transport: stub, observer: journal)
        var request = try HTTPRequest(string: "https://a.example/?frob=\(Self.secret)")
        request.headers["X-Frob"] = Self.secret
        _ = try await chain.send(request)
        #expect(!"\(journal.calls)".contains(Self.secret))
    }
}

extension JournalCall.Step {
    /// The texts of the step and those inside it as they are stored. Printing a field would redact its value.
    fileprivate var storedTexts: [String] {
        let messages = [request] + (response.map { [$0] } ?? [])
        let texts = messages.flatMap { message in
            [message.url, message.body.text].compactMap(\.self) + message.fields.map(\.value)
        }
        return texts + [error ?? ""] + notes.map(\.text) + steps.flatMap(\.storedTexts)
    }
}
