import Foundation
import InterceptorsTesting
import InterceptorsTransport
import Testing

@Suite(.againstHanging) struct StubFactoriesTests {
    private let request = HTTPRequest(url: URL(string: "https://h.example/")!)

    @Test func answersComeInOrderAndOnce() async throws {
        let stub: StubTransport = .stub(.status(201), .status(503))
        #expect(try await stub.send(request).status == 201)
        #expect(try await stub.send(request).status == 503)
        let error = await #expect(throws: TransportError.self) { try await stub.send(request) }
        #expect(error?.code == .noStub)
    }

    @Test func unusedAnswerNamesItsPlace() {
        let error = #expect(throws: StubVerificationError.self) { try StubTransport.stub(.status(201)).verify() }
        #expect(error?.description.contains("StubFactoriesTests.swift") == true)
    }

    @Test func closureAnswersEveryRequest() async throws {
        let stub: StubTransport = .stub { HTTPResponse(status: $0.method == .get ? 200 : 405) }
        #expect(try await stub.send(request).status == 200)
        #expect(try await stub.send(HTTPRequest(method: .put, url: request.url)).status == 405)
        #expect(stub.requests.count == 2)
    }
}
