import Foundation
import Testing

@testable import InterceptorsTransport

@Suite(.againstHanging) struct RedactionTests {
    let redaction = Redaction.standard

    @Test(arguments: [
        "Authorization", "proxy-authorization", "Cookie", "Set-Cookie", "X-Api-Key", "api_key", "apiKey", "APIKEY",
        "X-Amz-Security-Token", "X-Amz-Signature", "password", "new.password", "user[password]", "user[pin]",
        "user.pin",
        "client_secret", "id_token", "PHPSESSID", "jsessionid", "csrfmiddlewaretoken", "X-CSRF-Token", "pwd", "code",
        "auth/otp", "$password", "pass word", "private-key",
    ])
    func namesOfSecretsAreSensitive(name: String) {
        #expect(redaction.isSensitive(name))
    }

    @Test(arguments: [
        "", "-", "Accept", "Content-Type", "author", "id", "zipCode", "status_code", "primary_key", "pinned", "side",
        "message", "Idempotency-Key", "keyboard", "passenger", "compass", "[]", "...",
    ])
    func otherNamesAreNot(name: String) {
        #expect(!redaction.isSensitive(name))
    }

    @Test func aPartIsFoundAtAnyPlaceOfANameOfAnyLength() {
        for part in ["password", "jwt", "token"] {
            for place in [0, 1, 7, 55, 56, 57, 61, 62, 63, 64, 65, 66, 200] {
                let name = String(repeating: "z", count: place) + part
                #expect(redaction.isSensitive(name) && redaction.isSensitive(HTTPField.Name(stringLiteral: name)))
                #expect(redaction.isSensitive(name + String(repeating: "z", count: 64)))
                #expect(!redaction.isSensitive(name.dropLast() + "z"))
            }
        }
    }

    @Test func namesCanBeAdded() {
        let more = redaction.adding(names: ["Steuer-Nummer", "gehälter", "", "-"])
        #expect(more.isSensitive("steuernummer"))
        #expect(more.isSensitive("person.steuer_nummer"))
        #expect(more.isSensitive("gehälter"))
        #expect(more.isSensitive("token"))
        #expect(!more.isSensitive("name"))
        #expect(!redaction.isSensitive("steuernummer"))
    }

    @Test func aPlaceholderCanBeChosen() {
        let redaction = Redaction(sensitiveParts: ["x"], sensitiveNames: ["y", ""], placeholder: "***")
        #expect(redaction.text(#"{"ax":1,"y":2,"yy":3}"#) == #"{"ax":"***","y":"***","yy":3}"#)
    }

    @Test func theValuesOfSensitiveFieldsAreReplaced() {
        func printed(_ name: HTTPField.Name, _ value: String) -> String {
            redaction.value(of: HTTPField(unchecked: name, value))
        }
        #expect(printed(.authorization, "Bearer hush") == "<redacted>")
        #expect(printed("cookie", "a=hush") == "<redacted>")
        #expect(printed(.accept, "text/html; q=0.9") == "text/html; q=0.9")
        #expect(printed(.vary, "Authorization, Cookie") == "Authorization, Cookie")
        #expect(printed(.date, "Tue, 15 Nov 1994 08:12:31 GMT") == "Tue, 15 Nov 1994 08:12:31 GMT")
        #expect(
            printed(.wwwAuthenticate, #"Bearer realm="x", error="invalid_token""#)
                == #"Bearer realm="x", error="invalid_token""#
        )
        #expect(printed(.location, "/cb?code=hush&state=1#hush") == "/cb?code=<redacted>&state=1")
        #expect(!printed(.link, "<https://u:hush@a.example/>; rel=next").contains("hush"))
        #expect(!printed("X-Upstream", "Bearer hush1").contains("hush"))
        #expect(!printed("X-Original-URL", "/a?token=hush").contains("hush"))
        #expect(!printed("X-Upstream", "eyJhbGciOiJIUzI1NiJ9.hush.hush").contains("hush"))
    }

    @Test func noDescriptionShowsASecret() throws {
        var request = HTTPRequest(url: try #require(URL(string: "https://u:hush@a.example/?token=hush#hush")))
        request.headers[.authorization] = "Bearer hush"
        request.headers[.cookie] = "sid=hush"
        request.body = "hush"
        request.context[SecretKey.self] = "hush"
        let response = HTTPResponse(
            status: 200,
            headers: request.headers,
            body: "hush",
            url: request.url,
            context: request.context
        )
        let field = try #require(request.headers.first)
        var text = "\(request) \(response) \(field) \(request.headers) \(request.body) \(request.context)"
        text += String(reflecting: (request, response, field, request.headers, request.body, request.context))
        dump(request, to: &text)
        dump(response, to: &text)
        dump(field, to: &text)
        dump(request.headers, to: &text)
        dump(TransportError.bodyNotReplayable(request: request), to: &text)
        #expect(!text.contains("hush"))
        #expect(text.contains("a.example"))
    }

    private enum SecretKey: HTTPContextKey { static var defaultValue: String { "" } }
}

@Suite(.againstHanging) struct RedactionOfURLsTests {
    private func printed(_ url: String) -> String { Redaction.standard.redactingURL(url) }

    @Test(arguments: [
        "", "/", "https://a.example", "https://a.example/path/to?page=2&q=a%20b", "/relative?x=1", "?x=1", "a=b",
        "https://a.example/@user/posts", "https://a.example/?at=a@b.example", "https://a.example/v1/token:refresh",
        "https://a.example/?a&b=&&=c;d", "https://a.example/a;v=1/b?x=%", "mailto:a@b.example",
        "https://a.example/?next=https%3A%2F%2Fb.example%2F%3Fpage%3D2", "https://[::1]:8080/x",
        "https://a.example/caf\u{E9}",
    ])
    func whatHoldsNoSecretStaysAsItIs(url: String) {
        #expect(printed(url) == url)
    }

    @Test(arguments: [
        ("https://u:hush@a.example/x", "https://<redacted>@a.example/x"),
        ("https://hush@a.example", "https://<redacted>@a.example"),
        ("//u:hush@a.example/x", "//<redacted>@a.example/x"),
        ("https://u:hu@sh@a.example/x", "https://<redacted>@a.example/x"),
        ("https://u:hush@a.example?x=1", "https://<redacted>@a.example?x=1"),
        ("https://u:hush@a.example#x", "https://<redacted>@a.example"),
        ("https://a.example/#access_token=hush", "https://a.example/"),
        ("?token=hush", "?token=<redacted>"),
        ("/x?a=1&token=hush&b=2", "/x?a=1&token=<redacted>&b=2"),
        ("/x?token=hush;hush&b=2", "/x?token=<redacted>&b=2"),
        ("/x?a=1;token=hush", "/x?a=1;token=<redacted>"),
        ("/x?%74oken=hush", "/x?%74oken=<redacted>"),
        ("/x?to%6ben=hush", "/x?to%6ben=<redacted>"),
        ("/x?user%5Bpassword%5D=hush", "/x?user%5Bpassword%5D=<redacted>"),
        ("/x?token=hush=hush", "/x?token=<redacted>"),
        ("/x?token=hush?token=hush", "/x?token=<redacted>"),
        ("/a;jsessionid=hush/b?x=1", "/a;jsessionid=<redacted>/b?x=1"),
        ("/a?next=https://b.example/?token=hush", "/a?next=https://b.example/?token=<redacted>"),
        ("/a?next=https%3A%2F%2Fb.example%2F%3Ftoken%3Dhush&x=1", "/a?next=<redacted>&x=1"),
        ("/a?next=%252Fb%253Ftoken%253Dhush", "/a?next=<redacted>"),
        ("/a?next=https://u:hush@b.example/", "/a?next=https://<redacted>@b.example/"),
        ("/a?https%3A%2F%2Fb.example%2F%3Ftoken%3Dhush", "/a?<redacted>"),
        ("/a?filter=%7B%22password%22%3A%22hush%22%7D", "/a?filter=<redacted>"),
        ("/go/https%3A%2F%2Fu%3Ahush%40b.example/x", "/go/<redacted>/x"),
        ("/verify/eyJhbGciOiJIUzI1NiJ9.hush.hush", "/verify/<redacted>"),
        ("/x?j=eyJhbGciOiJIUzI1NiJ9.hush.hush", "/x?j=<redacted>"),
    ])
    func secretsAreReplaced(url: String, expected: String) {
        #expect(printed(url) == expected)
    }

    @Test func nestingBeyondReasonIsASecret() {
        var url = "token=hush"
        for _ in 0..<12 {
            let encoded = url.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            url = "next=" + encoded
        }
        #expect(printed("/?" + url) == "/?next=<redacted>")
    }
}

@Suite(.againstHanging) struct RedactionOfMetadataTests {
    /// tus 1.0: keys with values in base64.
    @Test(arguments: [
        ("filename ZmlsbS5tcDQ=,token c2VjcmV0", "filename ZmlsbS5tcDQ=,token <redacted>"),
        ("password aHVudGVyMg==", "password <redacted>"),
        // The text token=hunter2 in base64.
        ("note dG9rZW49aHVudGVyMg==", "note <redacted>"),
        ("filename ZmlsbS5tcDQ=, is_draft ,type dmlkZW8=", "filename ZmlsbS5tcDQ=, is_draft ,type dmlkZW8="),
        ("filename not-base64", "filename <redacted>"),
        ("a b c", "a <redacted>"),
        ("token=hunter2", "token=<redacted>"),
        ("", ""),
    ])
    func secretsInTheMetadataOfAnUploadAreReplaced(value: String, expected: String) {
        #expect(Redaction.standard.value(of: HTTPField(unchecked: "Upload-Metadata", value)) == expected)
        #expect(Redaction.standard.value(of: HTTPField(unchecked: "upload-metadata", value)) == expected)
    }
}
