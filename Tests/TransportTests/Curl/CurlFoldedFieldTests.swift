#if os(Linux)
import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsTransport

/// Responses whose first field line is folded. libcurl 7.84 to 8.0 followed a freed pointer into the handle's last
/// response.
@Suite(.againstHanging) struct CurlFoldedFieldTests {
    #if compiler(>=6.3)
    // A corrupted heap may end the process later, so the test runs in a separate process.
    @Test(arguments: ["http", "https"])
    func foldedFirstFieldLineHarmsNoMemory(scheme: String) async {
        await #expect(processExitsWith: .success) { [scheme = scheme as String] in
            let root = try TestAuthority()
            let server = try scheme == "https" ? MockServer(tls: root.issue()) : MockServer()
            server.on(.get, "/any/*") { request in
                let size = Int(request.path.split(separator: "/").last ?? "") ?? 0
                return StubAnswer.status(200, headers: ["X-Last": String(repeating: "a", count: size)], body: "ok")
            }
            server.on(.get, "/folded/*") { request in
                let size = Int(request.path.split(separator: "/").last ?? "") ?? 0
                let fold = " folded: \(String(repeating: "b", count: size))"
                return StubAnswer(steps: [.send("HTTP/1.1 200 OK\r\n\(fold)\r\nContent-Length: 2\r\n\r\nok"), .close])
            }
            let transport = CurlTransport(.init(tls: TLSConfiguration(trust: .only([root.certificate]))))
            for round in 0..<200 {
                let response = try await transport.send(makeRequest(server, "/any/\(round * 7)"))
                #expect(try await content(of: response) == "ok")
                let error = try await failure { try await transport.send(makeRequest(server, "/folded/\(round * 13)")) }
                #expect(error.code == .invalidResponse, "\(error)")
            }
            await transport.shutDown()
        }
    }

    @Test func foldedFirstFieldLinesAmongManyCallsHarmNoMemory() async {
        await #expect(processExitsWith: .success) {
            let server = try MockServer()
            server.on(.get, "/any", .status(200, headers: ["X-A": "1", "X-B": "2"], body: "ok"))
            server.on(.get, "/folded") { _ in .raw("HTTP/1.1 200 OK\r\n\tx: y\r\nContent-Length: 2\r\n\r\nok") }
            let transport = CurlTransport()
            await withTaskGroup(of: Void.self) { group in
                for worker in 0..<16 {
                    group.addTask {
                        for round in 0..<40 {
                            let path = (worker + round) % 3 == 0 ? "/folded" : "/any"
                            _ = try? await transport.send(makeRequest(server, path))
                        }
                    }
                }
            }
            await transport.shutDown()
        }
    }
    #endif

    @Test func foldedLaterFieldLineIsPartOfItsValue() async throws {
        let server = try MockServer()
        server.on(.get, "/") { _ in
            StubAnswer(steps: [.send("HTTP/1.1 200 OK\r\nX-A: one\r\n two\r\nContent-Length: 2\r\n\r\nok")])
        }
        let transport = CurlTransport()
        for _ in 0..<3 {
            let response = try await transport.send(makeRequest(server))
            #expect(response.headers["X-A"] == "one two")
        }
        await transport.shutDown()
    }

    /// The versions of libcurl with this bug: github.com/curl/curl/issues/11101.
    @Test(arguments: [(0x075300, false), (0x075400, true), (0x075801, true), (0x080001, true), (0x080100, false)])
    func handleIsUsedOnceWhereItKeepsAPointer(version: UInt32, isKept: Bool) {
        #expect(CurlLibrary.keepsPointerIntoLastHead(version: version) == isKept)
    }
}
#endif
