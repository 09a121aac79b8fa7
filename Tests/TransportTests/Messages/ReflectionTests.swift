import Foundation
import InterceptorsTransport
import Testing

@Suite(.againstHanging) struct ReflectionTests {
    private struct Wrapper {
        let request: HTTPRequest
        let responses: [HTTPResponse?]
    }

    @Test func aSecretIsNotDumpedByAccident() throws {
        let url = try #require(URL(string: "https://ada:hush@h.example/?token=hush"))
        let request = HTTPRequest(
            method: .post,
            url: url,
            headers: [.authorization: "Bearer hush", .accept: "text/plain"],
            body: "hush"
        )
        let response = HTTPResponse(status: 200, headers: [.setCookie: "hush"], body: "hush", url: url)
        let wrapper = Wrapper(request: request, responses: [response, nil])
        var text = ""
        dump(wrapper, to: &text)
        text += "\(wrapper)" + String(reflecting: wrapper)
        #expect(!text.contains("hush"), "\(text)")
        // `dump` shows the content's bytes like this; 104 is `h`.
        #expect(!text.contains("- 104"))
        #expect(text.contains("POST"))
        #expect(text.contains("text/plain"))
        #expect(text.contains("4 bytes"))
    }

    @Test func noDescriptionForgesALineOrControlsATerminal() throws {
        let hostile = "OK\u{1B}[2J\u{202E}\r\nforged"
        let response = HTTPResponse(
            status: try #require(HTTPResponse.Status(code: 200, reasonPhrase: hostile)),
            headers: ["X-A": hostile]
        )
        let request = HTTPRequest(
            method: HTTPRequest.Method(stringLiteral: hostile),
            url: try #require(URL(string: "https://h.example/"))
        )
        for text in ["\(response)", "\(response.headers)", "\(request)", "\(response.headers[0])"] {
            #expect(!text.unicodeScalars.contains { $0.value < 0x20 || $0 == "\u{202E}" }, "\(text)")
            #expect(text.contains(#"OK\u{1B}[2J\u{202E}\r\nforged"#))
        }
    }
}
