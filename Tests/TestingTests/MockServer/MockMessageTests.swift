import Foundation
import Testing

@testable import InterceptorsTesting

@Suite(.againstHanging) struct MockMessageTests {
    private func script(_ content: MockContent, keepsAlive: Bool) throws -> [MockResponse.Step] {
        let request = try RequestHead(Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8)).request
        return MockMessage(200, [:], content).script(for: request, keepsAlive: keepsAlive).steps
    }

    private func waitsForEver(_ step: MockResponse.Step?) -> Bool {
        if case .waitForever = step?.action { true } else { false }
    }

    @Test(arguments: [true, false])
    func aStalledBodyKeepsTheConnectionOpenAlsoWhereTheClientSaysClose(keepsAlive: Bool) throws {
        let steps = try script(.init(.length(10), [.send("ab"), .waitForever]), keepsAlive: keepsAlive)
        #expect(waitsForEver(steps.last))
        guard case .send(let sent) = steps.first?.action else {
            Issue.record("nothing is sent")
            return
        }
        let text = String(decoding: sent, as: UTF8.self)
        #expect(text.contains("Content-Length: 10\r\n") && text.hasSuffix("\r\n\r\nab"))
        #expect(text.contains("Connection: close\r\n") == !keepsAlive)
        let whole = try script(.init(Data("ab".utf8)), keepsAlive: keepsAlive)
        #expect(!whole.contains { waitsForEver($0) })
    }
}
