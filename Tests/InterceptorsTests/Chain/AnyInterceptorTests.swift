import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsCore

private struct Mark: Interceptor {
    let name: String

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        request.headers.append("X-Mark", name)
        return try await next(request)
    }
}

private struct MarkInterceptor: Interceptor {
    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        try await next(request)
    }
}

extension Interceptor where Self == AnyInterceptor {
    fileprivate static func hidden(_ name: String) -> Self { Self(Mark(name: name)) }
}

extension Interceptor where Self == Mark {
    fileprivate static func shown(_ name: String) -> Self { Self(name: name) }
}

@Suite(.againstHanging) struct AnyInterceptorTests {
    private let request = HTTPRequest(url: URL(string: "https://api.example.com/")!)

    /// The types of the interceptors after the first, as the chain calls them.
    private func linkedTypes(_ interceptors: [any Interceptor]) async throws -> [String] {
        let types = Shared<[String]>([])
        let looking: AnyInterceptor = .intercept { request, next in
            var link = next.link as? InterceptorLink
            while let element = link {
                types.change { $0.append("\(type(of: element.interceptor))") }
                link = element.rest as? InterceptorLink
            }
            return try await next(request)
        }
        _ = try await InterceptorChain([looking] + interceptors, transport: .stub(.status(204))).send(request)
        return types.value
    }

    @Test func aChainCallsTheWrappedInterceptorDirectly() async throws {
        let interceptors: [any Interceptor] = [
            .hidden("1"), .group([.hidden("2"), AnyInterceptor(.group([.shown("3")]))]), .shown("4"),
        ]
        #expect(try await linkedTypes(interceptors) == ["Mark", "Mark", "Mark", "Mark"])
    }

    @Test func aConditionalGroupCallsTheWrappedInterceptorDirectly() async throws {
        let isWrapped = Shared<[Bool]>([])
        let looking: AnyInterceptor = .intercept { request, next in
            isWrapped.change { $0.append((next.link as? InterceptorLink)?.interceptor is AnyInterceptor) }
            return try await next(request)
        }
        let part: AnyInterceptor = .when(.matching { _ in true }, [looking, .group([.hidden("1")])])
        _ = try await InterceptorChain([part], transport: .stub(.status(204))).send(request)
        #expect(isWrapped.value == [false])
    }

    @Test func wrappingTwiceIsWrappingOnce() {
        #expect(AnyInterceptor(AnyInterceptor(Mark(name: "1"))).base is Mark)
    }

    @Test func aDirectCallGoesToTheWrappedInterceptor() async throws {
        let response = try await AnyInterceptor.hidden("1").intercept(
            request,
            next: Next { request in HTTPResponse(status: 200, headers: request.headers) }
        )
        #expect(response.headers["X-Mark"] == "1")
    }

    @Test func theNameIsThatOfTheWrappedInterceptorInAChain() {
        #expect("\(AnyInterceptor(MarkInterceptor()))" == "mark")
        #expect("\(AnyInterceptor.hidden("1"))" == "Mark")
        #expect(
            "\(AnyInterceptor.when(.origin("https://a.example"), [.hidden("1"), .shown("2")]))" == "when [Mark → Mark]"
        )
        let chain = InterceptorChain([.hidden("1"), AnyInterceptor(MarkInterceptor())], transport: StubTransport())
        #expect(chain.names == "Mark → mark → StubTransport")
        #expect("\(chain.interceptors)" == "[Mark, mark]")
    }
}
