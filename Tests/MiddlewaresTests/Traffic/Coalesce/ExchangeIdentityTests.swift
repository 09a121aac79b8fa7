import Foundation
import Testing

@testable import InterceptorsCore
@testable import InterceptorsMiddlewares
@testable import InterceptorsTraffic

@Suite(.againstHanging) struct ExchangeIdentityTests {
    private func identity(
        _ address: String = "https://api.example.com/users/42",
        apart: String? = nil,
        ignoring ignored: Set<HTTPField.Name> = CoalesceInterceptor.labels,
        change: (inout HTTPRequest) -> Void = { _ in }
    ) throws -> ExchangeIdentity? {
        let fields: HTTPFields = [.accept: "application/json", .authorization: "Bearer a"]
        var request = HTTPRequest(url: try url(address), headers: fields)
        change(&request)
        return ExchangeIdentity(of: request, ignoring: ignored, apart: apart)
    }

    private func identity(
        _ name: HTTPField.Name,
        _ values: [String],
        ignoring ignored: Set<HTTPField.Name> = CoalesceInterceptor.labels
    ) throws -> ExchangeIdentity? {
        try identity(ignoring: ignored, change: { request in request.headers[values: name] = values })
    }

    @Test func identicalRequestsAreOne() throws {
        let usual = try identity()
        #expect(usual != nil)
        #expect(try identity() == usual)
        #expect(try identity("https://api.example.com/users/42#fragment") == usual)
        let inAnotherOrder = try identity(change: { request in
            request.headers = [.authorization: "Bearer a", "ACCEPT": "application/json"]
        })
        #expect(inAnotherOrder == usual)
    }

    @Test(arguments: ["TransactionId", "X-Request-ID", "traceparent", "tracestate", "baggage", "x-correlation-id"])
    func fieldsThatOnlyTellRequestsApartMakeNoDifference(name: String) throws {
        let name = try #require(HTTPField.Name(name))
        #expect(try identity(name, ["1"]) == identity(name, ["2"]))
    }

    @Test(arguments: [HTTPField.Name.authorization, .cookie, "X-API-Key"])
    func credentialsAlwaysMakeADifference(name: HTTPField.Name) throws {
        let some = try identity(name, ["a=1"], ignoring: [name])
        #expect(try identity(name, ["a=1"], ignoring: [name]) == some)
        #expect(try identity(name, ["a=2"], ignoring: [name]) != some)
        #expect(try identity(name, [], ignoring: [name]) != some)
        #expect(try identity(name, [], ignoring: [name]) != identity(name, [""], ignoring: [name]))
    }

    @Test func anyOtherDifferenceMakesTwoOfThem() throws {
        let usual = try identity()
        let others = [
            try identity("https://api.example.com/users/43"),
            try identity("https://api.example.com/users/42?page=1"),
            try identity("http://api.example.com/users/42"),
            try identity("https://api.example.com:8443/users/42"),
            try identity(.accept, ["text/html"]),
            try identity(.accept, ["application/json", "text/html"]),
            try identity("Range", ["bytes=0-1"]),
            try identity(.ifNoneMatch, ["\"1\""]),
            try identity(change: { request in request.context.responseBody = .buffered(upTo: 10) }),
            try identity(change: { request in request.context.timeouts = Timeouts(total: .seconds(1)) }),
            try identity(change: { request in request.context.clientOrigin = apiOrigin }),
            try identity(change: { request in request.context.cacheMode = .reload }),
            try identity(change: { request in request.context.network = .notExpensive }),
            try identity(change: { request in request.context.cachePartition = "ada" }),
            try identity(change: { request in request.context.cachePartition = "caf\u{e9}" }),
            try identity(change: { request in request.context.cachePartition = "cafe\u{301}" }),
            try identity(change: { request in request.context.authorization = .omitted }),
            try identity(change: { request in request.context.followsRedirects = true }),
            try identity(change: { request in try? request.identifyCaller(by: "apiKey", as: "1") }),
            try identity(.cookie, ["caf\u{e9}"]),
            try identity(.cookie, ["cafe\u{301}"]),
            try identity(apart: "tenant"),
        ]
        for other in others {
            #expect(other != nil)
            #expect(other != usual)
        }
        #expect(Set(others).count == others.count)
    }

    @Test func orderOfTheValuesOfAFieldMakesADifference() throws {
        #expect(try identity(.accept, ["a", "b"]) != identity(.accept, ["b", "a"]))
        #expect(try identity(.accept, ["a, b"]) != identity(.accept, ["a", "b"]))
    }

    @Test func whatCannotBeSharedHasNone() throws {
        let unfit = [
            try identity(change: { request in request.method = .post }),
            try identity(change: { request in request.method = .head }),
            try identity(change: { request in request.body = "content" }),
            try identity(change: { request in request.context.responseBody = .streamed }),
            try identity(change: { request in request.context.downloadProgress = { _ in } }),
            try identity(change: { request in request.context.uploadProgress = { _ in } }),
        ]
        for identity in unfit { #expect(identity == nil) }
    }
}
