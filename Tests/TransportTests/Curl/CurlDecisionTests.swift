#if os(Linux)
import Foundation
import Testing

@testable import InterceptorsTransport

/// Decisions of a transfer that need no connection.
@Suite(.againstHanging) struct CurlDecisionTests {
    private func url() throws -> URL { try #require(URL(string: "http://127.0.0.1:1/")) }

    @Test(arguments: ["ses%61me", "sesame"], ["sesame", "ses%61me", "another text"])
    func passwordOfAProxyIsRecognizedAsWrittenAndDecoded(written: String, detail: String) throws {
        let proxy = CurlTransport.Proxy.url(try #require(URL(string: "http://ada7:\(written)@127.0.0.1:1")))
        let isShown = detail == "sesame" || detail == written
        #expect(proxy.mayBeRevealed(by: "Proxy: \(detail)") == isShown)
    }

    @Test func expectationIsRecognizedInEachSpelling() throws {
        for value in ["100-continue", "100-Continue", "a, 100-CONTINUE"] {
            #expect(try HTTPRequest(url: url(), headers: [.expect: value], body: "x").expectsContinue)
        }
        #expect(try !HTTPRequest(url: url(), headers: [.expect: "200-ok"], body: "x").expectsContinue)
        #expect(try !HTTPRequest(url: url(), headers: [.expect: "100-continue"]).expectsContinue)
    }
}
#endif
