import Foundation
import Synchronization
import Testing

@testable import InterceptorsTransport

/// A recording replaces credentials and changes nothing else, because its content plays.
@Suite(.againstHanging) struct RedactionForProgramsTests {
    private let redaction = Redaction.credentials.forPrograms(placeholder: "REDACTED")

    private func kept(_ text: String, _ type: String = "application/json") -> String {
        let bytes = Array(text.utf8)
        let known = redaction.redacted(content: bytes, type: MediaType(type), isCut: false)
        return String(decoding: known ?? redaction.redacted(bytes, isCut: false) ?? bytes, as: UTF8.self)
    }

    @Test(arguments: [
        #"{"code":"USD"}"#, #"{"key":"PROJ-12"}"#, #"{"nextPageToken":"CAUQAA"}"#, #"{"usage":{"prompt_tokens":12}}"#,
        #"{"license":{"key":"mit"}}"#, #"{"plan":"Basic iPhone plan"}"#, #"{"code":"OK","session":{"id":7}}"#,
        #"{"author":"ada"}"#,
        #"{"tokens":{"input":9}}"#, #"{"note":"password: at least 8 characters"}"#, #"{"sid":"a","pass":3}"#,
        #"{"cursor":"eyJpZCI6NDIsIm5leHQiOnRydWV9"}"#, #"{"passwordPolicy":8,"password_reset_url":"/x"}"#,
        #"{"password":null,"token":""}"#,
        #"{"repository":{"url":"git+ssh://git@a.example/ada/x.git"}}"#, #"{"seen":"ftp://anonymous@a.example/"}"#,
        #"{"url":"https://a.example/?page=2&code=7"}"#, #"{"kid":"a","d":"b"}"#,
        #"{"title":"Reset your password","pass":12,"confirm":"Sure?"}"#,
        #"{"estate":1,"score":NaN,"list":[1,],"o":{"a":1,}}"#, #"{"ticket":"PROJ-1","pin":"map"}"#,
    ])
    func whatIsNoCredentialPlaysAsItIs(text: String) {
        #expect(kept(text) == text)
    }

    @Test(arguments: [
        ("var token = a.password; if (key == code) { session = \"Bearer\"; }", "text/javascript"),
        ("<input name=\"password\" value=\"\"><p>token: none</p>", "text/html"), ("password: hush", "text/plain"),
        ("a,b\ntoken,hush", "text/csv"), ("estate=1&code=USD", "application/x-www-form-urlencoded"),
        ("{access_token: t}", "text/javascript"), ("\u{1}token=hush", "application/octet-stream"),
        ("code=7&page=2", "application/x-www-form-urlencoded"),
    ])
    func contentOfUnknownStructurePlaysAsItIs(text: String, type: String) {
        #expect(kept(text, type) == text)
    }

    @Test(arguments: [
        (
            #"{"access_token":"hush","expires_in":3600,"token_type":"Bearer"}"#,
            #"{"access_token":"REDACTED","expires_in":3600,"token_type":"Bearer"}"#
        ),
        (#"{"otp": 123456}"#, #"{"otp": 0}"#),
        (
            #"{"newPassword":"hush","user[password]":"hush"}"#,
            #"{"newPassword":"REDACTED","user[password]":"REDACTED"}"#
        ),
        (
            #"{"refreshToken":[1,"hush",true,null,{"a":"hush"}],"b":1}"#,
            #"{"refreshToken":[0,"REDACTED",true,null,{"a":"REDACTED"}],"b":1}"#
        ),
        (#"{"inner":"{\"client_secret\":5}"}"#, #"{"inner":"{\"client_secret\":0}"}"#),
        (#"{"url":"https://a.example/?page=2&token=hush"}"#, #"{"url":"https://a.example/?page=2&token=REDACTED"}"#),
        (#"{"url":"https://ada:hush@a.example/"}"#, #"{"url":"https://REDACTED@a.example/"}"#),
        (#"{"url":"git+HTTPS://hush@a.example/"}"#, #"{"url":"git+HTTPS://REDACTED@a.example/"}"#),
        (#"{"url":"ssh://ada:hush@a.example/"}"#, #"{"url":"ssh://REDACTED@a.example/"}"#),
        (#"{"url":"//hush@a.example/"}"#, #"{"url":"//REDACTED@a.example/"}"#),
        (
            #"{"mfa_code":"hush","sms_code":"hush","totp":"hush","pw":"hush"}"#,
            #"{"mfa_code":"REDACTED","sms_code":"REDACTED","totp":"REDACTED","pw":"REDACTED"}"#
        ),
        (#"{"password":"hush","confirm":"hush"}"#, #"{"password":"REDACTED","confirm":"REDACTED"}"#),
        (
            #"{"grant_type":"authorization_code","code":"hush"}"#,
            #"{"grant_type":"authorization_code","code":"REDACTED"}"#
        ),
        (#"{"a":"sk_live_hush5678901234567890"}"#, #"{"a":"REDACTED"}"#),
        (#"{"a":"eyJh.hush.hush567890"}"#, #"{"a":"REDACTED"}"#),
        (#"{"score":NaN,"access_token":"hush","a":[1,],}"#, #"{"score":NaN,"access_token":"REDACTED","a":[1,],}"#),
        (")]}',\n{\"access_token\":\"hush\"}", ")]}',\n{\"access_token\":\"REDACTED\"}"),
        (#"{"access_token":"hush"} oops"#, #"{"access_token":"REDACTED"} oops"#),
        (#"{"access_token":"hush","a":}"#, #"{"access_token":"REDACTED","a":}"#),
    ])
    func credentialsAreReplacedByTheirType(text: String, expected: String) {
        #expect(kept(text) == expected)
        #expect(kept(expected) == expected)
    }

    @Test(arguments: [
        ("grant_type=authorization_code&code=hush", "grant_type=authorization_code&code=REDACTED"),
        ("refresh_token=hush&grant_type=refresh_token", "refresh_token=REDACTED&grant_type=refresh_token"),
        ("state=7&code=hush", "state=7&code=REDACTED"),
        ("user=ada&pw=hush&confirm=hush", "user=ada&pw=REDACTED&confirm=hush"),
        ("next=%2Fcb%3Ftoken%3Dhush", "next=REDACTED"),
    ])
    func credentialsOfFormsAreReplaced(text: String, expected: String) {
        #expect(kept(text, "application/x-www-form-urlencoded") == expected)
    }

    @Test(arguments: [
        ("<a href=\"/x?token=\">L</a><a href=\"/y\">", "<a href=\"/x?token=\">L</a><a href=\"/y\">"),
        ("fetch(\"/x?token=\" + t + \"&b=1\")", "fetch(\"/x?token=\" + t + \"&b=1\")"),
        ("<a href='/r?password=hush'>Reset</a><p>", "<a href='/r?password=REDACTED'>Reset</a><p>"),
        ("<u>/?a=1&amp;X-Amz-Signature=hush</u>", "<u>/?a=1&amp;X-Amz-Signature=REDACTED</u>"),
        ("\"https://a.example/#access_token=hush\"", "\"https://a.example/#access_token=REDACTED\""),
    ])
    func inOtherTextOnlyTheValuesOfQueriesAreReplaced(text: String, expected: String) {
        #expect(kept(text, "text/html") == expected)
        #expect(kept(expected, "text/html") == expected)
    }

    @Test func aFragmentStays() {
        #expect(redaction.redactingURL("https://a.example/?a=1#/orders/7") == "https://a.example/?a=1#/orders/7")
        #expect(redaction.redactingURL("/cb#access_token=hush&a=1") == "/cb#access_token=REDACTED&a=1")
    }

    @Test func eventsOfSeveralLinesAreOneText() {
        let text = "data: {\ndata: \"access_token\": \"hush\"\ndata: }\n\n"
        #expect(kept(text, "text/event-stream") == text.replacing("hush", with: "REDACTED"))
    }

    @Test func namesAreAddedAndRemoved() {
        let own = Redaction.credentials.adding(names: ["door"]).removing(names: ["token", "Reset-Password"])
        #expect(own.isSensitive("X-Door") && own.isSensitive("access_token") && own.isSensitive("new_password"))
        #expect(!own.isSensitive("token") && !own.isSensitive("user.token") && !own.isSensitive("resetPassword"))
        #expect(own.adding(names: ["Token"]).isSensitive("token"))
        let standard = Redaction.standard.removing(names: ["key"])
        #expect(!standard.isSensitive("key") && standard.isSensitive("api_key"))
    }

    @Test func eachReplacedNameIsNoted() {
        let names = Notes()
        let noting = Redaction.credentials.forPrograms(placeholder: "REDACTED") { names.add($0) }
        _ = noting.redacted(
            content: Array(#"{"password":"a","b":{"token":1},"c":""}"#.utf8),
            type: MediaType("application/json"),
            isCut: false
        )
        _ = noting.redactingURL("/?api_key=1&b=2")
        _ = noting.value(of: HTTPField(unchecked: "Cookie", "a"))
        _ = noting.redacted(Array("ghp_0123456789012345".utf8), isCut: false)
        #expect(names.all == ["password", "token", "api_key", "Cookie", "a token or a user"])
        // Each secret is noted once, however deep it is.
        names.removeAll()
        _ = noting.redacted(
            content: Array(#"{"a":"/?token=1","b":"{\"otp\":1}"}"#.utf8),
            type: MediaType("application/json"),
            isCut: false
        )
        _ = noting.redactingURL("https://ada@h.example/?next=%2F%3Ftoken%3D1")
        #expect(names.all == ["token", "otp", "a token or a user", "token"])
    }

    private final class Notes: Sendable {
        private let names = Mutex<[String]>([])
        var all: [String] { names.withLock { $0 } }
        func removeAll() { names.withLock { $0 = [] } }
        func add(_ name: String) { names.withLock { $0.append(name) } }
    }
}
