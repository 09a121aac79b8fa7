import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsInsight

@Suite(.againstHanging) struct JournalNotesTests {
    @Test func aNoteBelongsToTheStepThatMadeIt() async throws {
        let fixture = JournalFixture([
            .intercept { request, next in
                request.note("before")
                let step = request.context.observedStep
                let request = request
                try await next(request).body.discard()
                step?.add(CallNote("again", "the first was odd"))
                let response = try await next(request)
                step?.add("after")
                return response
            }
        ])
        try await fixture.send()
        #expect(
            fixture.explained == """
                #1 GET https://a.example/ → 204 No Content, 0 µs
                intercept
                  · before
                  StubTransport
                    ↑ 204 No Content, 0 bytes
                  · again: the first was odd
                  StubTransport
                    ↑ 204 No Content, 0 bytes
                  · after
                """
        )
    }

    @Test func withoutAJournalNoTextIsMade() async throws {
        let made = Tally()
        func note() -> CallNote {
            made.count()
            return "made"
        }
        let request = try HTTPRequest(string: "https://a.example/")
        request.note(note())
        request.context.observedStep?.add(note())
        #expect(request.context.observedStep == nil)
        #expect(made.value == 0)
    }

    @Test func aNoteMayReferToAnotherCall() async throws {
        let leader = Shared<Int?>(nil)
        let fixture = JournalFixture([
            .intercept { request, next in
                if let id = leader.value { request.note(CallNote("joined", "shares the response", callID: id)) }
                leader.value = request.context.observedStep?.callID
                return try await next(request)
            }
        ])
        try await fixture.send()
        try await fixture.send()
        #expect(fixture.journal.calls[1].root?.notes.first?.callID == 1)
        #expect(fixture.explained.contains("· joined: shares the response (call 1)"))
    }

    @Test func aCallMadeForAnotherNamesIt() async throws {
        let journal = Journal()
        let stub = StubTransport { _ in HTTPResponse(status: 204) }
        let asks: AnyInterceptor = .intercept { request, next in
            if request.url.path == "/", let client = request.context.client { try await client.post("/token") }
            return try await next(request)
        }
        let client = Client(
            baseURL: URL(string: "https://a.example"),
            interceptors: [asks],
            transport: stub,
            observer: journal
        )
        try await client.delete("/")
        #expect(journal.calls.map(\.parentID) == [nil, 1])
        #expect(journal.calls[1].explained.hasPrefix("#2 (for #1) POST https://a.example/token → 204"))
    }
}
