import Foundation
import Testing

@testable import InterceptorsTransport

/// Content for people: what has structure is shown without secrets, and the rest as its type and size.
@Suite(.againstHanging) struct RedactionOfContentTests {
    private func excerpt(_ text: String, _ type: String? = nil, limit: Int = 1024) -> String {
        Redaction.standard.excerpt(of: Data(text.utf8), type: type, limit: limit)
    }

    @Test(arguments: [
        "{}", "[]", "[1,2,[3]]", #"{"a":{"b":[1,"two",null]},"c":"d\"e\\"}"#,
        #"{"code":200,"object":{"id":42},"message":"OK"}"#,
        #"{"code":-32601}"#, #"{"code": 404 }"#, #"{"error":{"code":"TOKEN_EXPIRED","status":401}}"#,
        #"{"token":null}"#,
        #"[{"code":"rate_limit_hit"}]"#, #"{"password" : true,"session":false}"#, #"{"a":"\u00e9\n"}"#,
        "{\"a\":1}\n{\"a\":2}\n",
        #"{"time":"12:30","url":"https://a.example/?page=2"}"#, #"{"message":"The token has expired"}"#,
        #"{"password":""}"#,
        "\u{1E}{\"a\":1}\n\u{1E}{\"a\":2}\n",
    ])
    func jsonWithoutASecretStaysAsItIs(text: String) {
        #expect(excerpt(text) == text)
        #expect(Redaction.standard.text(text) == text)
    }

    @Test(arguments: [
        (#"{"password":"hush"}"#, #"{"password":"<redacted>"}"#),
        (#"{"a":1,"Authorization" : "Bearer hush" , "b":2}"#, #"{"a":1,"Authorization" : "<redacted>" , "b":2}"#),
        (#"{"token":{"a":["hush",{"b":"hush"}]},"x":1}"#, #"{"token":"<redacted>","x":1}"#),
        (#"{"tokens":["hush","hush"],"x":1}"#, #"{"tokens":"<redacted>","x":1}"#),
        (#"{"pin":1234}"#, #"{"pin":"<redacted>"}"#), (#"{"code":"123456"}"#, #"{"code":"<redacted>"}"#),
        (#"{"code":123456}"#, #"{"code":"<redacted>"}"#), (#"{"code":"expired"}"#, #"{"code":"<redacted>"}"#),
        (#"{"code":"Token_Expired"}"#, #"{"code":"<redacted>"}"#), (#"{"code":"_token_"}"#, #"{"code":"<redacted>"}"#),
        (#"{"token":"not_found"}"#, #"{"token":"<redacted>"}"#),
        (#"[[{"a":[{"secret":"hush"}]}]]"#, #"[[{"a":[{"secret":"<redacted>"}]}]]"#),
        (#"{"p\u0061ssword":"hush"}"#, #"{"p\u0061ssword":"<redacted>"}"#),
        (#"{"password":"hu\"sh\\"}"#, #"{"password":"<redacted>"}"#),
        ("{\n  \"password\" :\n    \"hush\"\n}", "{\n  \"password\" :\n    \"<redacted>\"\n}"),
        ("\u{FEFF}{\"token\":\"hush\"}", "\u{FEFF}{\"token\":\"<redacted>\"}"),
        ("{\"token\":\"hush\"}\n{\"token\":\"hush\"}", "{\"token\":\"<redacted>\"}\n{\"token\":\"<redacted>\"}"),
        (#"{"note":"my token: hush","id":7}"#, #"{"note":"my token: <redacted>","id":7}"#),
        (#"{"inner":"{\"password\":\"hush\"}","id":7}"#, #"{"inner":"{\"password\":\"<redacted>\"}","id":7}"#),
        (#"{"next":"https://h/?q=1&token=hush","id":7}"#, #"{"next":"https://h/?q=1&token=<redacted>","id":7}"#),
        (#"{"log":"a\npin: hush","id":7}"#, #"{"log":"a\npin: <redacted>","id":7}"#),
        (#"{"a":"ghp_hush5678901234567890"}"#, #"{"a":"<redacted>"}"#),
        (#"{"https://ada:hush@h.example":{}}"#, #"{"https://<redacted>@h.example":{}}"#),
    ])
    func inJSONTheValuesOfSensitiveNamesAreReplaced(text: String, expected: String) {
        #expect(excerpt(text) == expected)
        #expect(excerpt(expected) == expected)
    }

    @Test(arguments: [
        #"{"body":"{\u0022password\u0022:\u0022hush\u0022}"}"#,
        #"{"body":"{\"body\":\"{\\\"password\\\":\\\"hush\\\"}\"}"}"#,
        #"{"url":"https:\/\/u:hush@a.example\/"}"#, #"{"curl":"-H 'Authorization: Bearer hush'"}"#,
        #"{"m":"token eyJhbGciOiJIUzI1NiJ9.hush.hush expired"}"#, #"{"form":"user=a&password=hush"}"#,
        #"["password=hush"]"#, #"{"pem":"-----BEGIN PRIVATE KEY-----\nhush\n-----END PRIVATE KEY-----"}"#,
    ])
    func secretsInStringsOfJSONAreReplaced(text: String) throws {
        let result = excerpt(text)
        #expect(!result.contains("hush"))
        #expect(result.contains("<redacted>"))
        #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(result.utf8)) }
    }

    @Test(arguments: [
        ("user=a&password=hush&x=1", "user=a&password=<redacted>&x=1"),
        ("user=a&pass%77ord=hush", "user=a&pass%77ord=<redacted>"),
        ("user%5Bpassword%5D=hush&q=1", "user%5Bpassword%5D=<redacted>&q=1"),
        ("user[pin]=hush;q=1", "user[pin]=<redacted>"),
        ("next=%2Fcb%3Fcode%3Dhush&x=1", "next=<redacted>&x=1"), ("%7B%22token%22%3A%22hush%22%7D", "<redacted>"),
        (#"payload={"password":"hush"}"#, #"payload={"password":"<redacted>"}"#),
        ("payload=%7B%22token%22%3A+%22hush%22%7D", "payload=<redacted>"), ("token=", "token="), ("a=b&c=d", "a=b&c=d"),
    ])
    func inAFormTheValuesOfSensitiveNamesAreReplaced(text: String, expected: String) {
        #expect(excerpt(text, "application/x-www-form-urlencoded") == expected)
    }

    @Test func anEventStreamIsRedactedByLines() {
        let text = "event: token\ndata: {\"token\":\"hush\",\"a\":1}\n\ndata: token=hush\n"
        let expected = "event: token\ndata: {\"token\":\"<redacted>\",\"a\":1}\n\ndata: token=<redacted>\n"
        #expect(excerpt(text, "text/event-stream; charset=utf-8") == expected)
        // The lines of one event are one text.
        let lines = "data: {\ndata: \"session\": {\ndata: \"id\": \"hush\"\ndata: }}\n\ndata: 1\n"
        #expect(excerpt(lines, "text/event-stream") == "data: {\ndata: \"session\": \"<redacted>\"}\n\ndata: 1\n")
    }

    @Test(arguments: [#"name="password""#, #"NAME="password""#, "name*=utf-8''pass%77ord", "name=password"])
    func aPartOfASensitiveNameIsReplaced(parameter: String) {
        let text = """
            hush\r\n--b\r\nContent-Disposition: form-data; \(parameter)\r\n\r\nhush\r\nhush\r\n\
            --b\r\nContent-Disposition: form-data; name="note"\r\n\r\nhello, token: hush\r\n\
            --b\r\nContent-Disposition: form-data; name="data"\r\nContent-Type: application/json\r\n\r\n{"token":"hush"}\r\n\
            --b\r\nContent-Disposition: form-data; name="page"\r\nContent-Type: text/html\r\n\r\nhush\r\n--b--\r\nhush
            """
        let result = excerpt(text, "multipart/form-data; boundary=b")
        #expect(!result.contains("hush"), "\(result)")
        for shown in [
            "\n<redacted>\n", "\nhello, token: <redacted>\n", "\n{\"token\":\"<redacted>\"}\n",
            "<4 bytes of text/html>",
        ] {
            #expect(result.contains(shown), "\(result)")
        }
    }

    @Test func headsAndPartsWithoutAHeadAreRedacted() {
        let text = "--b\r\npassword=hush\r\n--b\r\nAuthorization: hush\r\n\r\n1\r\n--b--"
        #expect(!excerpt(text, "multipart/form-data; boundary=b").contains("hush"))
    }

    @Test func contentOfUnknownStructureIsDescribed() {
        #expect(excerpt("<p>hush</p>", "text/html; charset=utf-8") == "<11 bytes of text/html>")
        #expect(excerpt("hush") == "<4 bytes of text>")
        #expect(excerpt("{'token': 'hush'}") == "<17 bytes of text>")
        #expect(excerpt(#"{"token":"hush"} hush"#, "application/json") == "<21 bytes of application/json>")
        #expect(excerpt("hush", "text/plain", limit: 2) == "<4 bytes of text/plain>")
        #expect(excerpt("hush", "a\u{1B}[2J") == "<4 bytes of a\\u{1B}[2j>")
        #expect(excerpt("hush", "") == "<4 bytes of text>")
    }

    @Test func otherTextIsShownWhereAProgramAsksForIt() {
        let redaction = Redaction.standard.showingOtherText
        #expect(
            redaction.excerpt(of: Data("Not found, token=hush".utf8), type: "text/plain")
                == "Not found, token=<redacted>"
        )
        #expect(redaction.excerpt(of: Data([0xFF]), type: "text/plain") == "<1 bytes of text/plain>")
    }

    @Test(arguments: [Data([0xFF, 0xFE, 0x41]), Data([0x41, 0x00]), Data([0xC3, 0x28]), Data([0x61, 0xC3])])
    func whatIsNoTextIsOnlyDescribed(body: Data) {
        #expect(Redaction.standard.excerpt(of: body) == "<\(body.count) bytes of binary data>")
        #expect(Redaction.standard.showingOtherText.excerpt(of: body) == "<\(body.count) bytes of binary data>")
    }

    @Test func aBodyIsCutAndItsLengthIsTold() {
        func excerpt(_ text: String, _ limit: Int) -> String {
            Redaction.standard.showingOtherText.excerpt(of: Data(text.utf8), limit: limit)
        }
        #expect(excerpt("", 1) == "")
        #expect(excerpt("abc", 3) == "abc")
        #expect(excerpt("abcd", 3) == "abc… (4 bytes)")
        #expect(excerpt("abcd", 0) == "… (4 bytes)")
        #expect(excerpt("abcd", -1) == "… (4 bytes)")
        #expect(excerpt("aé", 2) == "a… (3 bytes)")
        #expect(excerpt("a😀", 4) == "a… (5 bytes)")
        #expect(
            excerpt(#"{"data":[{"id":1,"text":"hello"},{"id":2,"text":"hello"}]}"#, 20)
                == #"{"data":[{"id":1,"te… (58 bytes)"#
        )
    }

    @Test func aSliceOfDataIsReadFromItsStart() {
        #expect(Redaction.standard.excerpt(of: Data("xx[1]".utf8).dropFirst(2)) == "[1]")
    }

    @Test(arguments: [
        #"{"token":truehush}"#, #"{"code":123456}"#, #"{"password":"hush"}"#, #"{"u":"https://u:hush@a.example/"}"#,
        #"{"a":1,"tokens":[1,{"a":"hush"}],"b":2}"#, #"{"a":"sent Bearer hushabcdefghijKLMN"}"#,
        #"{"b":"{\"token\":\"hush\"}"}"#,
        #"{"clone_url":"https://hush@git.example/x"}"#,
        #"{"next":"https%3A%2F%2Fhush%40git.example"}"#, #"{"a":"ghp_hush5678901234567890"}"#,
        #"{"a":"eyJhush.hush.hush"}"#,
    ])
    func nothingIsShownWhereverJSONIsCut(text: String) {
        let body = Data(text.utf8)
        for limit in 0..<body.count {
            let excerpt = Redaction.standard.excerpt(of: body, type: "application/json", limit: limit)
            #expect(!excerpt.contains("hu") && !excerpt.contains("12"), "\(limit): \(excerpt)")
            let beginning = Redaction.beginning(of: body, type: nil, upTo: limit, redactedBy: .standard)
            #expect(beginning?.text.contains("hu") != true, "\(limit): \(beginning?.text ?? "")")
        }
    }

    @Test func bodyThatIsNotCompleteIsTreatedAsCut() {
        func excerpt(_ text: String, _ isComplete: Bool) -> String {
            Redaction.standard.excerpt(of: Data(text.utf8), type: "application/json", isComplete: isComplete)
        }
        #expect(excerpt(#"{"code":12"#, true) == "<10 bytes of application/json>")
        #expect(excerpt(#"{"code":12"#, false) == #"{"code":"<redacted>""#)
        #expect(
            Redaction.standard.showingOtherText.excerpt(of: Data("aé".utf8).prefix(2), type: nil, isComplete: false)
                == "a"
        )
    }

    @Test func theBeginningOfOtherContentIsShownWithoutARedactionAlone() {
        let page = Data("<p>hush</p>".utf8)
        #expect(Redaction.beginning(of: page, type: "text/html", upTo: 5, redactedBy: .standard) == nil)
        let shown = Redaction.beginning(of: page, type: "text/html", upTo: 5, redactedBy: nil)
        #expect(shown?.text == "<p>hu" && shown?.isCut == true)
        #expect(Redaction.beginning(of: Data([0xFF]), type: nil, upTo: 5, redactedBy: nil) == nil)
    }
}
