import Foundation
import InterceptorsTesting
import InterceptorsTraffic
import Testing

@testable import InterceptorsCore
@testable import InterceptorsMiddlewares

/// A value of a request's context that nothing in the chain acts on is found. Debug builds alone look for it.
@Suite(.againstHanging) struct ChainWishTests {
    static let wishes: [(HTTPContext, String, AnyInterceptor)] = [
        (.with(\.cacheMode, .reload), "cacheMode", .cache(.memory())),
        (.with(\.latestKey, "search"), "latestKey", .cancelPrevious()),
        (.with(\.deadline, Deadline(after: .seconds(5))), "deadline", .timeout()),
    ]

    private func wishes(_ context: HTTPContext, _ interceptors: [any Interceptor]) -> [String] {
        InterceptorChain(interceptors, transport: StubTransport()).ungrantedWishes(of: context)
    }

    @Test(arguments: 0..<3) func aWishNeedsAnElementThatGrantsIt(number: Int) {
        let (context, name, element) = Self.wishes[number]
        #if DEBUG
        #expect(wishes(context, [.retry()]).first?.contains("A request has a \(name). ") == true)
        #endif
        #expect(wishes(context, [.retry(), .group([element])]) == [])
        let closure: AnyInterceptor = .intercept { request, next in try await next(request) }
        #expect(wishes(context, [closure]) == [])
    }

    @Test func aWishThatIsTakenBackIsForgotten() {
        var context = HTTPContext.with(\.cacheMode, .reload).with(\.latestKey, 1)
        context.cacheMode = .standard
        context.latestKey = nil
        #expect(wishes(context, []) == [])
        #expect(wishes(HTTPContext(), []) == [])
    }

    @Test func theMessageSaysWhatToAdd() {
        #if DEBUG
        #expect(
            wishes(.with(\.cacheMode, .offline), [.retry()]) == [
                "doubtful: A request has a cacheMode. No cache acts on it: .offline and .onlyIfCached fail unsent, and other"
                    + " modes have no effect. Add .cache(store)."
                    + " (wishNotGranted: retry → StubTransport)"
            ]
        )
        #endif
    }
}
