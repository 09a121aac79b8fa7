import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransfers
import Testing

@testable import InterceptorsMiddlewares

/// Downloads of several ranges at once through interceptors that hold requests back or repeat them.
@Suite(.againstHanging) struct DownloadRangesChainTests {
    private static let film = Data((0..<100).map { UInt8($0) })

    /// A server of ranges. It answers a request with one of these statuses first, if any is left.
    private func server(refusing refusals: [HTTPResponse.Status] = []) -> StubTransport {
        let rest = Shared(refusals)
        return StubTransport { request in
            let range = request.headerFields[.range]?.wholeMatch(of: /bytes=(\d+)-(\d*)/)
            if range != nil {
                var refusal: HTTPResponse.Status?
                rest.change { refusal = $0.popLast() }
                if let refusal { return HTTPResponse(status: refusal) }
            }
            let first = range.flatMap { Int($0.1) } ?? 0
            let end = range.flatMap { Int($0.2) }.map { $0 + 1 } ?? 100
            var fields: HTTPFields = [.eTag: "\"1\"", .acceptRanges: "bytes", .contentLength: "\(end - first)"]
            if range != nil { fields[.contentRange] = "bytes \(first)-\(end - 1)/100" }
            let text = AsyncStream { stream in
                for byte in Self.film[first..<end] { stream.yield(Data([byte])) }
                stream.finish()
            }
            return HTTPResponse(status: range == nil ? 200 : 206, headerFields: fields, body: .oneShot(text))
        }
    }

    private func download(
        _ stub: StubTransport,
        _ interceptors: [any Interceptor],
        context: HTTPContext = HTTPContext()
    ) async throws {
        let folder = try TemporaryFolder()
        let client = Client(
            baseURL: URL(string: "https://api.example.com"),
            interceptors: interceptors,
            transport: stub
        )
        var resuming = DownloadResuming.acrossLaunches(ranges: 4)
        resuming.smallestRange = 10
        try await client.download("/film", to: folder.file("film"), resuming: resuming, context: context)
        #expect(try Data(contentsOf: folder.file("film")) == Self.film)
        #expect(stub.openBodies == 0)
    }

    @Test(arguments: 1...4) func aLimitOfConcurrencyHoldsNoRangeForGood(limit: Int) async throws {
        let interceptor = LimitConcurrencyInterceptor(limit)
        try await download(server(), [interceptor])
        #expect(interceptor.pool.counts == (0, 0, 0))
    }

    @Test func theRangesOfADownloadDoNotCancelEachOther() async throws {
        let latest = LatestWinsInterceptor()
        try await download(server(), [latest], context: .with(\.latestKey, "film"))
        #expect(latest.calls.count == 0)
    }

    @Test func aFullWaitingLineGivesFewerRanges() async throws {
        try await download(server(), [.limitConcurrency(1, maxQueued: 1)])
    }

    @Test func retryRepeatsARefusedRange() async throws {
        let stub = server(refusing: [503, 429, 503])
        let retry = AnyInterceptor.retry(.exponential(maxAttempts: 4), time: TimeSource(random: RandomSource { 0 }))
        try await download(stub, [.validateStatus(), retry])
        #expect(stub.requests.filter { $0.headerFields[.range] == nil }.count == 1)
    }
}
