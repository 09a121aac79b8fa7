import Foundation
import Testing

@testable import InterceptorsTesting

@Suite(.againstHanging) struct MockMessageTests {
    private func script(_ answer: StubAnswer, keepsAlive: Bool) throws -> [MockServer.Step] {
        let request = try RequestHead(Wire.lines(Wire.get())).request
        return answer.script(for: request, keepsAlive: keepsAlive).steps
    }

    private func sendsStream(_ step: MockServer.Step?) -> Bool {
        if case .sendBody = step?.action { true } else { false }
    }

    @Test(arguments: [true, false])
    func aStalledBodyKeepsTheConnectionOpenAlsoWhereTheClientSaysClose(keepsAlive: Bool) throws {
        let steps = try script(.stallInBody(after: Data("ab".utf8), of: 10), keepsAlive: keepsAlive)
        #expect(sendsStream(steps.last))
        guard case .send(let sent, _) = steps.first?.action else {
            Issue.record("nothing is sent")
            return
        }
        let text = String(decoding: sent, as: UTF8.self)
        #expect(text.contains("Content-Length: 10\r\n") && text.hasSuffix("\r\n\r\n"))
        #expect(text.contains("Connection: close\r\n") == !keepsAlive)
        let whole = try script(.status(200, body: "ab"), keepsAlive: keepsAlive)
        #expect(!whole.contains { sendsStream($0) })
    }
}
