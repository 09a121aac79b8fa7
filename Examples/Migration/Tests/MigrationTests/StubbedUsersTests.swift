import Foundation
import Interceptors
import InterceptorsStubs
import Models
import Testing

@testable import AfterURLSession

@Suite(.againstHanging)
struct StubbedUsersTests {
    // example: stub
    @Test func decodesAUser() async throws {
        let stub = StubTransport()
        stub.on(.get, "/users/42", .json(#"{"id":42,"name":"Ada"}"#))
        let api = Client(baseURL: URL(string: "https://api.example.com"), interceptors: [], transport: stub)

        #expect(try await Users(api: api).user(42) == User(id: 42, name: "Ada"))
        #expect(stub.requests.map(\.method) == [.get])
    }
    // end
}
