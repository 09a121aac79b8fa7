import Foundation
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct TraceContextTests {
    private static let traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let spanID = "00f067aa0ba902b7"

    // W3C Trace Context level 2, §3.2.2.5: unknown flags are sent as zero.
    @Test(arguments: [("ff", "03"), ("fe", "02"), ("fd", "01"), ("fc", "00"), ("03", "03"), ("00", "00")])
    func flagsOfAParentThatAreNotKnownGoOutAsZero(flags: String, sent: String) throws {
        let trace = try #require(TraceContext(traceparent: "00-\(Self.traceID)-\(Self.spanID)-\(flags)"))
        #expect(trace.traceparent == "00-\(Self.traceID)-\(Self.spanID)-\(sent)")
        #expect(trace.child(span: 1).traceparent == "00-\(Self.traceID)-0000000000000001-\(sent)")
    }

    @Test(arguments: [("01", true), ("00", false), ("03", true), ("ff", true), ("fe", false)])
    func validParentIsRead(flags: String, isSampled: Bool) throws {
        let trace = try #require(TraceContext(traceparent: "00-\(Self.traceID)-\(Self.spanID)-\(flags)"))
        #expect(trace.traceID == Self.traceID)
        #expect(trace.spanID == Self.spanID)
        #expect(trace.isSampled == isSampled)
        #expect(TraceContext(traceparent: trace.traceparent) == trace)
    }

    @Test(arguments: [
        "", "00", "00-\(traceID)-\(spanID)", "00-\(traceID)-\(spanID)-1", "00-\(traceID)-\(spanID)-01-",
        "00-\(traceID)-\(spanID)-01-extra", "ff-\(traceID)-\(spanID)-01", "00-\(traceID)-0000000000000000-01",
        "00-00000000000000000000000000000000-\(spanID)-01", "00-\(traceID.uppercased())-\(spanID)-01",
        "00-\(traceID)-\(spanID)-0g", "0g-\(traceID)-\(spanID)-01", "00_\(traceID)-\(spanID)-01",
        "01-\(traceID)-\(spanID)-01extra", " 00-\(traceID)-\(spanID)-01", "00-\(traceID)-00f067aa0ba902bé-01",
    ])
    func invalidParentIsNone(text: String) {
        #expect(TraceContext(traceparent: text) == nil)
    }

    @Test(arguments: ["01-\(traceID)-\(spanID)-01", "cc-\(traceID)-\(spanID)-01-what-the-future-holds"])
    func laterVersionIsReadAsFarAsItIsKnown(text: String) {
        #expect(TraceContext(traceparent: text)?.traceparent == "00-\(Self.traceID)-\(Self.spanID)-01")
    }

}

@Suite(.againstHanging) struct TracingInterceptorTests {
    private static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    private func send(
        _ interceptors: [any Interceptor],
        _ fields: HTTPFields = [:],
        context: HTTPContext = HTTPContext()
    ) async throws -> [HTTPRequest] {
        let recorder = Recorder()
        let request = HTTPRequest(url: try url("https://e.com/"), headers: fields, context: context)
        let response = try await InterceptorChain(interceptors, transport: recorder).send(request)
        #expect(response.context.trace != nil)
        return recorder.requests
    }

    private func traces(_ requests: [HTTPRequest]) throws -> [TraceContext] {
        try requests.map { request in
            let fields = request.headers
            #expect(fields[values: .traceparent].count == 1)
            let text = try #require(fields[.traceparent])
            return try #require(TraceContext(traceparent: text, tracestate: fields[.tracestate]))
        }
    }

    @Test func traceIsBegun() async throws {
        let first = try traces(try await send([.tracing()]))[0]
        let second = try traces(try await send([.tracing()]))[0]
        #expect(first.isSampled && first.tracestate == nil)
        #expect(first.traceID != second.traceID && first.spanID != second.spanID)
    }

    @Test func sourceOfChanceIsInjected() async throws {
        let first = try traces(try await send([.tracing(time: TimeSource(random: .seeded(1)))]))
        let second = try traces(try await send([.tracing(time: TimeSource(random: .seeded(1)))]))
        #expect(first == second)
        let zeros = try traces(try await send([.tracing(time: TimeSource(random: RandomSource { 0 }))]))[0]
        #expect(zeros.spanID == "0000000000000001")
    }

    @Test func traceOfTheRequestIsPassedOnAsANewSpan() async throws {
        let fields: HTTPFields = [
            .traceparent: Self.parent, .tracestate: "rojo=1", .tracestate: "congo=2",
        ]
        let sent = try traces(try await send([.tracing(sampling: 0)], fields))[0]
        #expect(sent.traceID == "4bf92f3577b34da6a3ce929d0e0e4736")
        #expect(sent.spanID != "00f067aa0ba902b7")
        #expect(sent.isSampled)
        #expect(sent.tracestate == "rojo=1, congo=2")
    }

    @Test func traceOfTheContextIsPassedOn() async throws {
        var context = HTTPContext()
        context.trace = TraceContext(traceparent: Self.parent, tracestate: "a=1")
        let sent = try traces(try await send([.tracing()], context: context))[0]
        #expect(sent.traceID == context.trace?.traceID)
        #expect(sent.spanID != context.trace?.spanID)
        #expect(sent.tracestate == "a=1")
    }

    @Test func invalidParentBeginsANewTraceWithoutTheOldState() async throws {
        for parents in [["00-0-0-00"], [Self.parent, Self.parent]] {
            var fields: HTTPFields = [.tracestate: "a=1"]
            fields[values: .traceparent] = parents
            let sent = try traces(try await send([.tracing()], fields))[0]
            #expect(sent.traceID != "4bf92f3577b34da6a3ce929d0e0e4736")
            #expect(sent.tracestate == nil)
        }
    }

    @Test func outsideARetryAllAttemptsAreOneSpan() async throws {
        let sent = try traces(try await send([.tracing(), sendTwice]))
        #expect(sent.count == 2 && sent[0] == sent[1])
    }

    @Test func onBothSidesOfARetryEachAttemptIsASpanOfOneTrace() async throws {
        let sent = try traces(try await send([.tracing(), sendTwice, .tracing()]))
        #expect(sent.count == 2)
        #expect(sent[0].traceID == sent[1].traceID)
        #expect(sent[0].spanID != sent[1].spanID)
    }

    @Test func shareOfTheTracesIsSampled() async throws {
        let interceptor = AnyInterceptor.tracing(sampling: 0.25, time: TimeSource(random: .seeded(9)))
        var sampled = 0
        for _ in 0..<400 where try traces(try await send([interceptor]))[0].isSampled { sampled += 1 }
        #expect(70...130 ~= sampled)
        #expect(try !traces(try await send([.tracing(sampling: 0)]))[0].isSampled)
    }

    @Test func othersThanTheNamedOriginsAreNotTold() async throws {
        let home = try #require(Origin(try url("https://home.example/")))
        let sent = try await send([.tracing(origins: [home])], [.traceparent: Self.parent, .tracestate: "a=1"])
        #expect(sent[0].headers.isEmpty)
        #expect(sent[0].context.trace?.traceID == "4bf92f3577b34da6a3ce929d0e0e4736")
    }

    @Test func responseHasTheInnermostSpan() async throws {
        let recorder = Recorder()
        let chain = InterceptorChain([.tracing(), .tracing()], transport: recorder)
        let response = try await chain.send(HTTPRequest(url: try url("https://e.com/")))
        #expect(response.context.trace?.traceparent == recorder.requests.first?.headers[.traceparent])
    }

    @Test func concurrentRequestsGetSpansOfTheirOwn() async throws {
        let recorder = Recorder()
        let chain = InterceptorChain([.tracing(time: TimeSource(random: .seeded(5)))], transport: recorder)
        let request = HTTPRequest(url: try url("https://e.com/"))
        try await withThrowingTaskGroup { group in
            for _ in 0..<500 { group.addTask { _ = try await chain.send(request) } }
            try await group.waitForAll()
        }
        #expect(Set(recorder.requests.compactMap { $0.headers[.traceparent] }).count == 500)
    }
}
