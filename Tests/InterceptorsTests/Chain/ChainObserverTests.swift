import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

/// An observer written outside of the package, with public declarations only.
@Suite(.againstHanging) struct ChainObserverTests {
    private final class Step: ObservedStep {
        let callID = 7
        let element: String
        let lines: Notes<String>

        init(_ element: String, _ lines: Notes<String>) { (self.element, self.lines) = (element, lines) }

        func add(_ note: CallNote) { lines.add("\(element): \(note)") }
    }

    private final class Observer: ChainObserver {
        let lines = Notes<String>()

        func observing(_ interceptor: any Interceptor, named name: String, isFirst: Bool) -> any Interceptor {
            AnyInterceptor.intercept { [lines] request, next in
                lines.add("\(name) begins" + (isFirst ? ", first" : ""))
                var request = request
                request.context.observedStep = Step(name, lines)
                let passed = AnyInterceptor.intercept { request, next in
                    lines.add("\(name) passes the request on")
                    return try await next(request)
                }
                let response = try await interceptor.intercept(request, next: next.preceded(by: passed))
                lines.add("\(name) ends")
                return response
            }
        }

        func observing(_ transport: any Transport, isFirst: Bool) -> any Transport {
            lines.add("transport" + (isFirst ? ", first" : ""))
            return transport
        }
    }

    private struct Noting: Interceptor {
        func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
            #expect(request.context.observedStep?.callID == 7)
            request.note("here")
            return try await next(request)
        }
    }

    private struct Answering: Interceptor {
        func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
            HTTPResponse(status: 204)
        }
    }

    @Test func observerSeesEachElementFromOutsideAndItsNotes() async throws {
        let (observer, stub) = (Observer(), StubTransport())
        stub.enqueue(.status(204))
        let client = Client(
            baseURL: URL(string: "https://api.example.com"),
            interceptors: [Noting(), .pass()],
            transport: stub,
            observer: observer
        )
        try await client.get("/users")
        #expect(
            observer.lines.all == [
                "transport", "Noting begins, first", "Noting: here", "Noting passes the request on",
                "intercept begins", "intercept passes the request on", "intercept ends", "Noting ends",
            ]
        )
    }

    @Test func elementThatAnswersPassesNothingOn() async throws {
        let observer = Observer()
        let chain = InterceptorChain([Answering(), Noting()], transport: StubTransport(), observer: observer)
        let response = try await chain.send(HTTPRequest(string: "https://api.example.com/users"))
        #expect(response.status == 204)
        #expect(observer.lines.all == ["transport", "Answering begins, first", "Answering ends"])
    }

    @Test func noteWithoutAnObserverIsNotMade() async throws {
        let stub = StubTransport()
        stub.enqueue(.status(204))
        let unobserved: AnyInterceptor = .intercept { request, next in
            #expect(request.context.observedStep == nil)
            request.note("\(Issue.record("The text of a note was made.") as Any)")
            return try await next(request)
        }
        let chain = InterceptorChain([unobserved], transport: stub, observer: nil)
        #expect(try await chain.send(HTTPRequest(string: "https://api.example.com/users")).status == 204)
    }
}

extension Interceptor where Self == AnyInterceptor {
    fileprivate static func pass() -> Self { .intercept { request, next in try await next(request) } }
}
