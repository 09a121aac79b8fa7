import Foundation
import InterceptorsTestSupport
import InterceptorsTransport
import Testing

@Suite(.againstHanging) struct RedactionOfTextTests {
    private let redaction = Redaction.standard

    @Test(arguments: [
        ("token=hush", "token=<redacted>"),
        ("a=1&api_key=hush&b=2", "a=1&api_key=<redacted>&b=2"),
        ("access_token: hush, more", "access_token: <redacted>"),
        ("the token: hush, more", "the token: <redacted>, more"),
        ("Authorization: Bearer hush hush\nAccept: */*", "Authorization: <redacted>\nAccept: */*"),
        ("sent Cookie: a=hush; b=hush\nnext", "sent Cookie: <redacted>\nnext"),
        ("  password: hush with spaces\nuser: ada", "  password: <redacted>\nuser: ada"),
        (#"MyError(token: "hush", id: 7)"#, #"MyError(token: "<redacted>", id: 7)"#),
        (#"MyError(token: Optional("hush"), id: 7)"#, "MyError(token: <redacted>, id: 7)"),
        (
            #"Failed(reason: App.Reason.badPassword("hush", 7), id: 7)"#,
            "Failed(reason: App.Reason.badPassword(<redacted>), id: 7)"
        ),
        (#"badPassword(\"hush\"#, "badPassword(<redacted>"),
        (#"["token": ["hush", "hush"], "id": 7]"#, #"["token": "<redacted>", "id": 7]"#),
        (#"{\"password\":\"hush\",\"id\":7}"#, #"{\"password\":\"<redacted>\",\"id\":7}"#),
        ("{token: 'hush', id: 7}", "{token: '<redacted>', id: 7}"),
        ("see https://ada:hush@h.example/?q=1", "see https://<redacted>@h.example/?q=1"),
        ("<https://h/?token=hush>; rel=\"next\"", "<https://h/?token=<redacted>>; rel=\"next\""),
        ("next=https%3A%2F%2Fh%2F%3Ftoken%3Dhush%26q%3D1", "next=<redacted>"),
        ("p=%7B%22token%22%3A%22hush%22%7D&q=1", "p=<redacted>&q=1"),
        ("%74oken=hush", "%74oken=<redacted>"),
        ("got Bearer hush1234.5678 from", "got Bearer <redacted> from"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJodXNoIn0.c2ln here", "<redacted> here"),
        (
            "<user><password>hush<b/>hush</password><id>7</id></user>",
            "<user><password><redacted></password><id>7</id></user>"
        ),
        ("<w:Password w:kind=\"hush\">hush</w:Password><id/>", "<w:Password <redacted>><redacted></w:Password><id/>"),
        ("<token value=\"hush\"/><id>7</id>", "<token <redacted>/><id>7</id>"),
        ("<input name=\"csrf_token\" value=\"hush\"><b>7</b>", "<input <redacted>><b>7</b>"),
        ("<x property=\"password\">hush</x>", "<x <redacted>><redacted></x>"),
        ("<a password='hush'>7</a>", "<a password='<redacted>'>7</a>"),
    ])
    func secretsAreFoundInAnyText(text: String, expected: String) {
        #expect(redaction.text(text) == expected)
        #expect(!redaction.text(text).contains("hush"))
    }

    @Test(arguments: [
        "", "plain", "HTTP 404: no such user", "Error Domain=NSURLErrorDomain Code=-1001 \"The request timed out.\"",
        "Basic settings and bearer of news", "<Error><Code>AccessDenied</Code></Error>", "code=404", "code: -32601",
        "text/html; charset=utf-8", "max-age=60, must-revalidate", "Tue, 15 Nov 1994 08:12:31 GMT",
        "Bearer error=\"invalid_token\"", "https://example.com/a?b=c", "100% = all", "%", "%4", "a%=%zz",
        "<p>tokens are fine</p>", "password(s)", "token()", "makeToken(for: user)", "print(\"hello\")", "token(",
        "no value for key CodingKeys(stringValue: \"access_token\", intValue: nil)",
    ])
    func whatIsNoSecretStays(text: String) {
        #expect(redaction.text(text) == text)
    }

    @Test(arguments: [
        "token(\"", "token(\")", "token(\\", "token=", "token:", "token=\"", "token=\\", "token=\\\"", "token=[",
        "token=(((", "<token", "<token>",
        "<token></toke",
        "token%3D", "token%3", "//@", "//", "<", "</", "Bearer ", "eyJ", "token='", "token: {\"a\": \"",
        "\u{0}token=\u{0}",
    ])
    func whatIsCutOffIsNoCrash(text: String) {
        _ = redaction.text(text)
        _ = redaction.excerpt(of: Data(("{" + text).utf8))
        _ = redaction.excerpt(of: Data(("--" + text).utf8))
    }

    @Test func redactingTwiceIsRedactingOnce() {
        for text in [
            "token=hush&x=1", "Authorization: Bearer x y", "<password>x</password>", #"{"token": "x"}"#, "//u:p@h/",
        ] {
            #expect(redaction.text(redaction.text(text)) == redaction.text(text))
        }
    }

    // Bytes that could make a scan go back and forth. With quadratic time this test would take minutes at full load.
    @Test(arguments: [
        "<a", "<token", "token=", "token:", "token ", "\"", "\\", "//", "//a@", "token=(", "token=\\\"", "% ", "%3D",
        "Bearer ",
        "<token>", "a ", "token(", "token(\"", "a(\"", "token(\\", "token \"", "eyJ.", "[", "x=1&",
    ])
    func timeIsProportionalToTheLength(piece: String) {
        let text = String(repeating: piece, count: FullLoad.count(10_000, full: 40_000) / piece.utf8.count)
        #expect(redaction.text(text).utf8.count <= 2_000_000)
        _ = redaction.excerpt(of: Data(("{\"" + text).utf8), limit: .max)
    }

    @Test(arguments: [
        (#"{"code":200,"ok":true}"#, #"{"code":200,"ok":true}"#),
        (#"{"code":-1001}"#, #"{"code":-1001}"#),
        (#"{"code":"123456"}"#, #"{"code":"<redacted>"}"#),
        (#"{"code":123456}"#, #"{"code":"<redacted>"}"#),
        (#"{"note":"my token: hush","id":7}"#, #"{"note":"my token: <redacted>","id":7}"#),
        (#"{"title":"Secret: ","id":7}"#, #"{"title":"Secret: ","id":7}"#),
        (#"{"inner":"{\"password\":\"hush\"}","id":7}"#, #"{"inner":"{\"password\":\"<redacted>\"}","id":7}"#),
        (#"{"error":"badPassword(\"hush\")","id":7}"#, #"{"error":"badPassword(<redacted>)","id":7}"#),
        (#"{"log":"a\npin: hush","id":7}"#, #"{"log":"a\npin: <redacted>","id":7}"#),
        (#"{"next":"https://h/?q=1&token=hush","id":7}"#, #"{"next":"https://h/?q=1&token=<redacted>","id":7}"#),
        (#"{password: "hush", id: 7}"#, #"{password: "<redacted>", id: 7}"#),
        (#"{"pass\u0077ord":"hush"}"#, #"{"pass\u0077ord":"<redacted>"}"#),
        ("user%5Bpassword%5D=hush&q=1", "user%5Bpassword%5D=<redacted>&q=1"),
        ("user[pin]=hush;q=1", "user[pin]=<redacted>;q=1"),
    ])
    func bodiesAreRedactedWithinTheirValues(body: String, expected: String) {
        #expect(redaction.excerpt(of: Data(body.utf8)) == expected)
    }

    @Test func aMultipartFormLosesTheContentOfSensitiveFields() {
        let body = """
            --x\r\nContent-Disposition: form-data; name="password"\r\n\r\nhush\r\nhush\r\n--x\r
            Content-Disposition: form-data; name="note"\r\n\r\nhello\r\n--x--\r\n
            """
        let text = redaction.excerpt(of: Data(body.utf8))
        #expect(!text.contains("hush"))
        #expect(text.contains("hello"))
        #expect(text.contains("name=\"password\"\n\n<redacted>\n--x"))
    }

    @Test(arguments: [
        "X-Auth-Key", "Ocp-Apim-Subscription-Key", "DD-APPLICATION-KEY", "x-functions-key", "X-XSRF-TOKEN",
        "SAMLResponse",
    ])
    func keysOfWellKnownServicesAreSecret(name: String) {
        #expect(redaction.isSensitive(name))
    }

    @Test(arguments: ["Idempotency-Key", "Content-Type", "TransactionId", "monkey", "keyboard", "status_code", "spin"])
    func othersAreNot(name: String) {
        #expect(!redaction.isSensitive(name))
    }

    @Test func aFieldsValueIsRedactedWithin() {
        #expect(
            redaction.value(of: HTTPField(unchecked: .link, "<https://h/a#b>; rel=x, <https://h/?token=hush>"))
                == "<https://h/a#b>; rel=x, <https://h/?token=<redacted>>"
        )
        #expect(redaction.value(of: HTTPField(unchecked: "X-From", "Bearer hush1234")) == "Bearer <redacted>")
        #expect(redaction.value(of: HTTPField(unchecked: .location, "//u:hush@h/")) == "//<redacted>@h/")
        #expect(redaction.value(of: HTTPField(unchecked: .location, "/a?u=http://b@c")) == "/a?u=http://<redacted>@c")
    }
}
