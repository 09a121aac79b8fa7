import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsTransport

/// Text without a known structure: errors, lines of a log, fields' values.
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
        ("msg=a b&password=my hush", "msg=a b&password=<redacted>"),
        (#"MyError(token: "hush", id: 7)"#, #"MyError(token: "<redacted>", id: 7)"#),
        (#"MyError(token: Optional("hush"), id: 7)"#, "MyError(token: <redacted>, id: 7)"),
        (
            #"Failed(reason: App.Reason.badPassword("hush", 7), id: 7)"#,
            "Failed(reason: App.Reason.badPassword(<redacted>), id: 7)"
        ),
        (#"["token": ["hush", "hush"], "id": 7]"#, #"["token": <redacted>, "id": 7]"#),
        (
            #"[AnyHashable("token"): "hush", AnyHashable("a"): 1]"#,
            #"[AnyHashable("token"): "<redacted>", AnyHashable("a"): 1]"#
        ),
        (#"{\"password\":\"hush\",\"id\":7}"#, #"{\"password\":\"<redacted>\",\"id\":7}"#),
        ("{token: 'hush', id: 7}", "{token: '<redacted>', id: 7}"),
        ("see https://ada:hush@h.example/?q=1", "see https://<redacted>@h.example/?q=1"),
        ("connect postgres://u:hush@db.example/x", "connect postgres://<redacted>@db.example/x"),
        ("<https://h/?token=hush>; rel=\"next\"", "<https://h/?token=<redacted>>; rel=\"next\""),
        ("next=https%3A%2F%2Fh%2F%3Ftoken%3Dhush%26q%3D1", "next=<redacted>"),
        ("p=%7B%22token%22%3A%22hush%22%7D&q=1", "p=<redacted>&q=1"),
        ("%74oken=hush", "%74oken=<redacted>"), ("user[password]=hush", "user[password]=<redacted>"),
        ("got Bearer hush1234.5678 from", "got Bearer <redacted> from"),
        ("Basic dXNlcjpodXNo== failed", "Basic <redacted> failed"),
        ("sent Negotiate YIIChush1234567890", "sent Negotiate <redacted>"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJodXNoIn0.c2ln here", "<redacted> here"),
        (#"{"token"=>"hush"}"#, #"{"token"=>"<redacted>"}"#), ("[token] => hush", "[token] => <redacted>"),
        ("{'token': b'hush'}", "{'token': b'<redacted>'}"),
        ("deviceToken=<740f4707 bebcf74f>, a", "deviceToken=<<redacted>>, a"),
        ("x token := hush", "x token := <redacted>"), (#"token("hush"#, "token(<redacted>"),
        ("Cookie: <redacted>, X-Api-Key: hush", "Cookie: <redacted>, X-Api-Key: <redacted>"),
        ("API Key = hush", "API Key = <redacted>"), ("code=123456", "code=<redacted>"),
        ("PIN: 1234 5678", "PIN: <redacted>"),
        ("otp_code=hush", "otp_code=<redacted>"), ("mfa_code: hush", "mfa_code: <redacted>"),
        ("smsCode=hush", "smsCode=<redacted>"),
        ("totp=hush", "totp=<redacted>"), ("user_pw=hush", "user_pw=<redacted>"),
        ("confirm=hush", "confirm=<redacted>"),
        ("cloned with ghp_hush5678901234567890", "cloned with <redacted>"),
        ("sk_live_hush5678901234567890", "<redacted>"),
        ("(xoxb-hush5678901234567890)", "(<redacted>)"), ("AKIAHUSH567890123456 denied", "<redacted> denied"),
        (
            "key\n-----BEGIN PRIVATE KEY-----\nhush\n-----END PRIVATE KEY-----",
            "key\n-----BEGIN PRIVATE KEY-----<redacted>-----END PRIVATE KEY-----"
        ),
        ("-----BEGIN RSA PRIVATE KEY-----\nhush", "-----BEGIN RSA PRIVATE KEY-----<redacted>"),
    ])
    func secretsAreReplaced(text: String, expected: String) {
        #expect(redaction.text(text) == expected)
        #expect(redaction.text(expected) == expected)
    }

    @Test(arguments: [
        "", "plain", "HTTP 404: no such user", "Error Domain=NSURLErrorDomain Code=-1001 \"The request timed out.\"",
        "Basic settings and bearer of news", "Bearer token missing", "code=404", "code: -32601",
        "{\"code\":\"TOKEN_EXPIRED\"} at 12:30", "text/html; charset=utf-8", "max-age=60, must-revalidate",
        "Tue, 15 Nov 1994 08:12:31 GMT", "Bearer error=\"invalid_token\"", "https://example.com/a?b=c", "100% = all",
        "%", "%4",
        "a%=%zz", "password(s)", "token()", "makeToken(for: user)", "print(\"hello\")", "token(", "token=null",
        "tokens are fine",
        "no value for key CodingKeys(stringValue: \"access_token\", intValue: nil)",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", "eyJpZCI6NDIsIm5leHQiOnRydWV9", "x < y > z",
        "://",
    ])
    func whatIsNoSecretStays(text: String) {
        #expect(redaction.text(text) == text)
    }

    @Test(arguments: [
        "token(\"", "token(\")", "token(\\", "token=", "token:", "token=\"", "token=\\", "token=\\\"", "token=[",
        "token=(((", "token%3D", "token%3", "//@", "//", "Bearer ", "eyJ", "token='", "token: {\"a\": \"",
        "\u{0}token=\u{0}",
        "-----BEGIN PRIVATE", "{\"", "[", "{\"token\":{", "[1,", "\"\\",
    ])
    func whatIsCutOffIsNoCrash(text: String) {
        _ = redaction.text(text)
        for type in [nil, "application/json", "multipart/form-data; boundary=b", "application/x-www-form-urlencoded"] {
            _ = redaction.excerpt(of: Data(("{" + text).utf8), type: type)
            _ = redaction.excerpt(of: Data(("--b\r\n" + text).utf8), type: type, isComplete: false)
        }
    }

    // Bytes that could make a scan go back and forth. With quadratic time this test would take minutes at full load.
    @Test(arguments: [
        "token=", "token:", "token ", "\"", "\\", "//", "//a@", "token=(", "token=\\\"", "% ", "%3D", "Bearer ", "a ",
        "token(", "token(\"", "token(\\", "token \"", "eyJ.", "eyJ", "-eyJ", "-ghp", " basic/", "basic~", "a.-eyJ-A",
        "[", "x=1&", "'", "{",
        "{'", "{\"value\":",
        "token='",
        "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "----", "--x ", "digest ", "Digest response=", "Digest response ",
        "f[a]",
        "{\"a\":", "[[", "\"{\\\"", "%2525", "=", "a=b=", "ghp_", "gs", "{\"token\":[", "?token=", "a://",
    ])
    func timeIsProportionalToTheLength(piece: String) {
        let text = String(repeating: piece, count: FullLoad.count(10_000, full: 40_000) / piece.utf8.count)
        #expect(redaction.text(text).utf8.count <= 2_000_000)
        for type in ["application/json", "application/x-www-form-urlencoded", "text/event-stream"] {
            _ = redaction.excerpt(of: Data(("{\"" + text).utf8), type: type, limit: .max)
        }
        _ = redaction.redactingURL("/?" + text)
    }

    @Test(arguments: [
        "X-Auth-Key", "Ocp-Apim-Subscription-Key", "DD-APPLICATION-KEY", "x-functions-key", "X-XSRF-TOKEN",
        "SAMLResponse",
    ])
    func keysOfWellKnownServicesAreSecret(name: String) {
        #expect(redaction.isSensitive(name))
        #expect(name == "SAMLResponse" || Redaction.credentials.isSensitive(name))
    }

    @Test func aFieldsValueIsRedactedWithin() {
        #expect(
            redaction.value(of: HTTPField(unchecked: .link, "<https://h/a#b>; rel=x, <https://h/?token=hush>"))
                == "<https://h/a#b>; rel=x, <https://h/?token=<redacted>>"
        )
        #expect(redaction.value(of: HTTPField(unchecked: "X-From", "Bearer hush1234")) == "Bearer <redacted>")
        #expect(redaction.value(of: HTTPField(unchecked: .location, "//u:hush@h/")) == "//<redacted>@h/")
        #expect(redaction.value(of: HTTPField(unchecked: .location, "/a?u=http://b@c")) == "/a?u=http://<redacted>@c")
        #expect(redaction.value(of: HTTPField(unchecked: "X-From", "ghp_0123456789012345")) == "<redacted>")
    }

    @Test func aSecretInTheReasonPhraseIsNotPrinted() throws {
        let status = try #require(HTTPResponse.Status(code: 401, reasonPhrase: "token=hush refused"))
        let response = HTTPResponse(status: status)
        var text = "\(status) \(response) \(String(reflecting: status))"
        dump(status, to: &text)
        dump(response, to: &text)
        #expect(!text.contains("hush"))
        #expect("\(status)" == "401 token=<redacted> refused")
        #expect(status.reasonPhrase == "token=hush refused")
        #expect("\(HTTPResponse.Status(code: 404, reasonPhrase: "") ?? 500)" == "404")
    }
}
