import Foundation
import InterceptorsTesting
import Synchronization
import Testing

@testable import InterceptorsTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#if canImport(InterceptorsURLSession)
@testable import InterceptorsURLSession
#endif

@Suite(.againstHanging) struct URLSessionPreparationTests {
    private enum Priority: HTTPContextKey { static var defaultValue: Int { 0 } }

    /// A change of a request that a caller's closure may try.
    struct Change: Sendable, CustomTestStringConvertible {
        let name: String
        let change: @Sendable (inout URLRequest) -> Void
        var testDescription: String { name }

        init(_ name: String, _ change: @escaping @Sendable (inout URLRequest) -> Void) {
            (self.name, self.change) = (name, change)
        }
    }

    @Test func closureSeesEachRequestWithItsContextOnce() async throws {
        let server = try MockServer()
        server.on(nil, "/**", .status(200, body: "ok"))
        let seen = Mutex<[String]>([])
        let transport = URLSessionTransport(
            timeouts: Timeouts(idle: nil),
            prepare: { urlRequest, request in
                urlRequest.networkServiceType = .background
                seen.withLock {
                    $0.append("\(request.method) \(urlRequest.url?.path ?? "") \(request.context[Priority.self])")
                }
            }
        )
        for (index, body) in [HTTPBody.empty, "text", .restartable { AsyncStream<Data> { $0.finish() } }].enumerated() {
            var request = try makeRequest(server, "/\(index)", .post, fields: [.accept: "text/plain"], body: body)
            request.context[Priority.self] = index
            #expect(try await content(of: transport.send(request)) == "ok")
            #expect(server.requests.last?.headers[.accept] == "text/plain")
        }
        let calls = seen.withLock { $0 }
        #expect(calls == ["POST /0 0", "POST /1 1", "POST /2 2"])
    }

    #if !canImport(FoundationNetworking)
    @Test(arguments: [NetworkRequirements.notExpensive, .notConstrained, [.notExpensive, .notConstrained], []])
    func excludedNetworksStayExcluded(network: NetworkRequirements) throws {
        var request = HTTPRequest(url: try #require(URL(string: "http://a.example/b")))
        request.context.network = network
        var outgoing = try OutgoingRequest(request)
        let prepare: (inout URLRequest, HTTPRequest) -> Void = { urlRequest, _ in
            urlRequest.allowsExpensiveNetworkAccess = true
            urlRequest.allowsConstrainedNetworkAccess = true
        }
        for _ in 1...2 {
            let sent = outgoing.urlRequest
            #expect(sent.allowsExpensiveNetworkAccess == !network.contains(.notExpensive))
            #expect(sent.allowsConstrainedNetworkAccess == !network.contains(.notConstrained))
            try outgoing.apply(prepare, for: request)
        }
    }
    #endif

    @Test func optionsOfTheClosureReachTheTask() throws {
        let request = HTTPRequest(url: try #require(URL(string: "http://a.example/b")))
        var outgoing = try OutgoingRequest(request)
        try outgoing.apply(
            { urlRequest, _ in
                urlRequest.networkServiceType = .background
                urlRequest.allowsCellularAccess = false
                urlRequest.cachePolicy = .returnCacheDataElseLoad
                urlRequest.mainDocumentURL = urlRequest.url
            },
            for: request
        )
        #expect(outgoing.urlRequest.networkServiceType == .background)
        #expect(!outgoing.urlRequest.allowsCellularAccess)
        #expect(outgoing.urlRequest.cachePolicy == .returnCacheDataElseLoad)
        #expect(outgoing.urlRequest.mainDocumentURL == request.url)
    }

    @Test(arguments: [
        Change("URL") { $0.url = URL(string: "http://127.0.0.1:9/") },
        Change("URL") { $0.url = nil },
        Change("method") { $0.httpMethod = "DELETE" },
        Change("fields") { $0.setValue("Bearer hunter2", forHTTPHeaderField: "Authorization") },
        Change("fields") { $0.setValue(nil, forHTTPHeaderField: "X-Kept") },
        Change("body") { $0.httpBody = Data("hunter2".utf8) },
        Change("body") { $0.httpBodyStream = InputStream(data: Data("hunter2".utf8)) },
        Change("time limit") { $0.timeoutInterval = 1 },
        Change("cookies") { $0.httpShouldHandleCookies = true },
    ])
    func changesOfWhatWasCheckedAreRefused(change: Change) async throws {
        let server = try MockServer()
        let transport = URLSessionTransport(prepare: { urlRequest, _ in change.change(&urlRequest) })
        let request = try makeRequest(server, "/", .post, fields: ["X-Kept": "yes"])
        let error = try await failure { try await transport.send(request) }
        #expect(error.code == .unsupported)
        #expect(error.message.contains(change.name))
        #expect(!error.description.contains("hunter2"))
        #expect(server.connectionsOpened == 0)
    }

    @Test func trailingClosureStillConfiguresTheSession() {
        let isCalled = Mutex(false)
        _ = URLSessionTransport { configuration in
            isCalled.withLock { $0 = configuration.httpMaximumConnectionsPerHost >= 0 }
        }
        let wasCalled = isCalled.withLock { $0 }
        #expect(wasCalled)
    }
}
