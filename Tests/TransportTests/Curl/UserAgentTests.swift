#if os(Linux)
import Foundation
import InterceptorsTesting
import Testing

@testable import InterceptorsTransport

@Suite(.againstHanging) struct UserAgentTests {
    @Test func requestsNameTheProgramUnlessTheySayWhoSendsThem() async throws {
        let server = try MockServer()
        server.on(nil, "/", .status(200))
        let transport = CurlTransport()
        let own = UserAgent.value(program: ProcessInfo.processInfo.processName)
        #expect(own.hasSuffix(" Interceptors"))
        for (fields, expected) in [
            ([:], [own]), (["X-A": "b", .accept: "*/*"], [own]), ([.userAgent: "me/1.0"], ["me/1.0"]),
            (["user-agent": ""], []), ([:], [own]),
        ] as [(HTTPFields, [String])] {
            for method in [HTTPRequest.Method.get, .post] {
                _ = try await transport.send(makeRequest(server, "/", method, fields: fields))
                #expect(server.requests.last?.headers[values: .userAgent] == expected)
            }
        }
        await transport.shutDown()
    }

    @Test(arguments: [
        ("Shop", "Shop Interceptors"), ("My Shop (2)/\r\nÜ", "MyShop2 Interceptors"), ("", "Interceptors"),
        ("商店", "Interceptors"),
    ])
    func nameOfTheProgramStandsThereAsFarAsItCan(program: String, value: String) {
        #expect(UserAgent.value(program: program) == value)
    }
}
#endif
