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
        request.headerFields[.authorization] = "Bearer hush"
        request.headerFields[.cookie] = "sid=hush"
        request.body = "hush"
        request.context[SecretKey.self] = "hush"
        let response = HTTPResponse(
            status: 200,
            headerFields: request.headerFields,
            body: "hush",
            url: request.url,
            context: request.context
        )
        let field = try #require(request.headerFields.first)
        var text = "\(request) \(response) \(field) \(request.headerFields) \(request.body) \(request.context)"
        text += String(reflecting: (request, response, field, request.headerFields, request.body, request.context))
        dump(request, to: &text)
        dump(response, to: &text)
        dump(field, to: &text)
        dump(request.headerFields, to: &text)
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

@Suite(.againstHanging) struct RedactionOfFormatsTests {
    private func printed(_ text: String) -> String { Redaction.standard.text(text) }

    @Test(arguments: [
        "", "plain text", "{}", "[]", "[1,2,[3]]", #"{"a":{"b":[1,"two",null]},"c":"d\"e\\"}"#, #""text""#,
        #"{"code":200,"object":{"id":42},"message":"OK"}"#, #"{"code":-32601}"#, #"{"code": 404 }"#,
        #"{"error":{"code":"TOKEN_EXPIRED","status":401}}"#, #"{"code" : "not_found" }"#,
        #"[{"code":"rate_limit_hit"}]"#,
        #"{"token":null}"#,
        #"{"password" : true,"session":false}"#, "12:30 and a=b", "a=b&c=d", "x < y > z", "<a href='b'>c</a>",
        "<html><body>404 Not Found</body></html>", #"{"time":"12:30","url":"https://a.example/?page=2"}"#,
        "Basic authentication required", "Bearer token missing", "a%20b=c%20d", "100% of it", #"{"a":"\u00e9\n"}"#,
        "a : b", "\"", "\\", "<", "://", "https://a.example/", "Code: 404", "code=404&x=1",
        #"{"message":"The token has expired"}"#,
    ])
    func whatHoldsNoSecretStaysAsItIs(text: String) {
        #expect(printed(text) == text)
    }

    @Test(arguments: [
        (#"{"password":"hush"}"#, #"{"password":"<redacted>"}"#),
        (#"{"a":1,"Authorization" : "Bearer hush" , "b":2}"#, #"{"a":1,"Authorization" : "<redacted>" , "b":2}"#),
        (#"{"token":{"a":["hush",{"b":"hush"}]},"x":1}"#, #"{"token":"<redacted>","x":1}"#),
        (#"{"tokens":["hush","hush"],"x":1}"#, #"{"tokens":"<redacted>","x":1}"#),
        (#"{"pin":1234}"#, #"{"pin":"<redacted>"}"#),
        (#"{"code":"123456"}"#, #"{"code":"<redacted>"}"#),
        (#"{"code":123456}"#, #"{"code":"<redacted>"}"#),
        (#"{"code":1005,"x":1}"#, #"{"code":"<redacted>","x":1}"#),
        (#"{"code":"SplxlOBeZQQYbYS6WxSbIA"}"#, #"{"code":"<redacted>"}"#),
        (#"{"code":"expired"}"#, #"{"code":"<redacted>"}"#),
        (#"{"code":"WDJB-MJHT"}"#, #"{"code":"<redacted>"}"#),
        (#"{"code":"Token_Expired"}"#, #"{"code":"<redacted>"}"#),
        (#"{"code":"TOKEN_EXPIRED_2"}"#, #"{"code":"<redacted>"}"#),
        (#"{"code":"_token_"}"#, #"{"code":"<redacted>"}"#),
        (#"{"code":"a_bcdef"}"#, #"{"code":"<redacted>"}"#),
        (#"{"code":"not_found" hush}"#, #"{"code":"<redacted>"}"#),
        (#"{"code":"not_fou"#, #"{"code":"<redacted>""#),
        (#"{"token":"not_found"}"#, #"{"token":"<redacted>"}"#),
        (#"{"code":"TOKEN_EXPIRED","token":"hush"}"#, #"{"code":"TOKEN_EXPIRED","token":"<redacted>"}"#),
        (#"{"code":"reset_password":"hush"}"#, #"{"code":"<redacted>"}"#),
        (#"[[{"a":[{"secret":"hush"}]}]]"#, #"[[{"a":[{"secret":"<redacted>"}]}]]"#),
        (#"{"p\u0061ssword":"hush"}"#, #"{"p\u0061ssword":"<redacted>"}"#),
        (#"{"\u0070\u0061\u0073\u0073word":"hush"}"#, #"{"\u0070\u0061\u0073\u0073word":"<redacted>"}"#),
        (#"{"pass\word":"hush"}"#, #"{"pass\word":"<redacted>"}"#),
        (#"{"password":"hu\"sh\\"}"#, #"{"password":"<redacted>"}"#),
        (#"{"password":"hu"sh"}"#, #"{"password":"<redacted>""#),
        (#"{"password":hush hush}"#, #"{"password":"<redacted>"}"#),
        (#"{"password":truehush}"#, #"{"password":"<redacted>"}"#),
        (#"{"password":"#, #"{"password":"#),
        (#"{"password":"hush"#, #"{"password":"<redacted>""#),
        ("{\n  \"password\" :\n    \"hush\"\n}", "{\n  \"password\" :\n    \"<redacted>\"\n}"),
        ("\u{FEFF}{\"token\":\"hush\"}", "\u{FEFF}{\"token\":\"<redacted>\"}"),
        ("{\"token\":\"hush\"}\n{\"token\":\"hush\"}", "{\"token\":\"<redacted>\"}\n{\"token\":\"<redacted>\"}"),
        (")]}',\n{\"token\":\"hush\"}", ")]}',\n{\"token\":\"<redacted>\"}"),
        (#"callback({"token":"hush"})"#, #"callback({"token":"<redacted>"})"#),
        (#"data: {"token":"hush"}"#, #"data: {"token":"<redacted>"}"#),
        (#"{"password"=>"hush", "x"=>1}"#, #"{"password"=>"<redacted>", "x"=>1}"#),
    ])
    func inJSONTheValuesUnderSensitiveNamesAreReplaced(text: String, expected: String) {
        #expect(printed(text) == expected)
    }

    @Test(arguments: [
        #"{"body":"{\"password\":\"hush\",\"a\":1}"}"#, #"{"body":"{\u0022password\u0022:\u0022hush\u0022}"}"#,
        #"{"body":"{\"body\":\"{\\\"password\\\":\\\"hush\\\"}\"}"}"#, #"{"body":"{\"password\":\"hush"#,
        #"{"url":"https:\/\/u:hush@a.example\/"}"#, #"{"url":"https://a.example/?token=hush"}"#,
        #"{"curl":"-H 'Authorization: Bearer hush'"}"#, #"{"m":"token eyJhbGciOiJIUzI1NiJ9.hush.hush expired"}"#,
        #"{"form":"user=a&password=hush"}"#, #"["password=hush"]"#, #"{"https://a.example/?token=hush":1}"#,
        #"{"body":"<password>hush</password>"}"#,
    ])
    func secretsInStringsOfJSONAreReplaced(text: String) throws {
        let result = printed(text)
        #expect(!result.contains("hush"))
        #expect(result.contains("<redacted>"))
        if text.hasSuffix("}") || text.hasSuffix("]") {
            #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(result.utf8)) }
        }
    }

    @Test(arguments: [
        ("user=a&password=hush&x=1", "user=a&password=<redacted>&x=1"),
        ("user=a&pass%77ord=hush\n", "user=a&pass%77ord=<redacted>\n"),
        ("user=a&pass+word=hush", "user=a&pass+word=<redacted>"),
        ("user[password]=hush", "user[password]=<redacted>"),
        ("next=%2Fcb%3Fcode%3Dhush&x=1", "next=<redacted>&x=1"),
        ("%7B%22token%22%3A%22hush%22%7D", "<redacted>"),
        ("msg=a b&password=my hush", "msg=a b&password=<redacted>"),
        ("token=hush", "token=<redacted>"),
        ("code=123456", "code=<redacted>"), ("code=not_found", "code=<redacted>"),
        ("code=TOKEN_EXPIRED&x=1", "code=<redacted>&x=1"),
    ])
    func inAFormTheValuesOfSensitiveFieldsAreReplaced(text: String, expected: String) {
        #expect(printed(text) == expected)
    }

    @Test(arguments: [
        (
            "GET / HTTP/1.1\r\nAuthorization: Bearer hush\r\nAccept: */*",
            "GET / HTTP/1.1\r\nAuthorization: <redacted>\r\nAccept: */*"
        ),
        ("Invalid header 'Bearer hush1'.", "Invalid header 'Bearer <redacted>'."),
        ("Basic dXNlcjpodXNo== failed", "Basic <redacted> failed"),
        ("got eyJhbGciOiJIUzI1NiJ9.hush.hush", "got <redacted>"),
        ("connect postgres://u:hush@db.example/x", "connect postgres://<redacted>@db.example/x"),
        ("Password:\n  hush\nnext", "Password:<redacted>\nnext"),
        ("password: |\n  hush\nnext", "password: <redacted>\nnext"),
        ("{'token': 'hush', 'a': 1}", "{'token': '<redacted>', 'a': 1}"),
        (#"{\"token\":\"hush\",\"a\":1}"#, #"{\"token\":\"<redacted>\",\"a\":1}"#),
        ("5\" disk, token: \"hush hush\" x", "5\" disk, token: \"<redacted>"),
        ("API Key = hush", "API Key = <redacted>"),
    ])
    func inOtherTextWhatLooksLikeASecretIsReplaced(text: String, expected: String) {
        let result = printed(text)
        #expect(!result.contains("hush"))
        #expect(result == expected)
    }

    @Test(arguments: [
        ("<a><password>hush</password><b>1</b></a>", "<a><password><redacted></password><b>1</b></a>"),
        (#"<wsse:Password Type="x">hush</wsse:Password>"#, "<wsse:Password <redacted>><redacted></wsse:Password>"),
        ("<token>hush", "<token><redacted>"),
        (#"<token value="hush"/><b/>"#, "<token <redacted>/><b/>"),
        (#"<input name="csrf_token" value="hush"><p>"#, "<input <redacted>><p>"),
        (#"<input type='password' value='hush'/>"#, "<input <redacted>/>"),
        (#"<user password="hush" id="1">"#, #"<user password="<redacted>" id="1">"#),
    ])
    func inXMLElementsOfSensitiveNamesAreReplaced(text: String, expected: String) {
        let result = printed(text)
        #expect(!result.contains("hush"))
        #expect(result == expected)
    }

    @Test func aPartOfAMultipartFormIsReplaced() {
        let text = """
            --b\r\nContent-Disposition: form-data; name="user"\r\n\r\nAda\r\n\
            --b\r\nContent-Disposition: form-data; name="password"\r\n\r\nhush\r\n\
            --b\r\nContent-Disposition: form-data; name="last"\r\n\r\nx\r\n--b--
            """
        let result = printed(text)
        #expect(!result.contains("hush"))
        #expect(result.contains("Ada"))
        #expect(result.contains(#"name="last""#))
    }
}

@Suite(.againstHanging) struct RedactionExcerptTests {
    private func excerpt(_ text: String, _ limit: Int = 1024) -> String {
        Redaction.standard.excerpt(of: Data(text.utf8), limit: limit)
    }

    @Test func aBodyIsCutAndItsLengthIsTold() {
        #expect(excerpt("") == "")
        #expect(excerpt("abc", 3) == "abc")
        #expect(excerpt("abcd", 3) == "abc… (4 bytes)")
        #expect(excerpt("abcd", 0) == "… (4 bytes)")
        #expect(excerpt("abcd", -1) == "… (4 bytes)")
        #expect(excerpt("aé", 2) == "a… (3 bytes)")
        #expect(excerpt("a😀", 4) == "a… (5 bytes)")
    }

    @Test(arguments: [Data([0xFF, 0xFE, 0x41]), Data([0x41, 0x00]), Data([0xC3, 0x28]), Data([0x61, 0xC3])])
    func whatIsNoTextIsOnlyDescribed(body: Data) {
        #expect(Redaction.standard.excerpt(of: body) == "<\(body.count) bytes of binary data>")
    }

    @Test func aSliceOfDataIsReadFromItsStart() {
        #expect(Redaction.standard.excerpt(of: Data("xxabc".utf8).dropFirst(2)) == "abc")
    }

    @Test func whereItIsCutNothingIsTakenForComplete() {
        #expect(excerpt(#"{"token":truehush}"#, 13) == #"{"token":"<redacted>"… (18 bytes)"#)
        #expect(excerpt(#"{"code":123456}"#, 11) == #"{"code":"<redacted>"… (15 bytes)"#)
        #expect(excerpt("code=12345678", 8) == "code=<redacted>… (13 bytes)")
        #expect(!excerpt("https://u:hush@a.example/", 12).contains("hu"))
        #expect(!excerpt(#"{"u":"https://u:hush@a.example/"}"#, 18).contains("hu"))
    }

    @Test(arguments: [
        "{\"a\":", "[", "\"\\", "a=", "<a ", "a\"", "://", "://a:", "a=%41", "a=a%", "\"a\":", "token=", "eyJ",
        "Bearer ",
        "<password>", "{\"token\":[", "\\\"", "\"{\\\"", "a\":\"", "%25",
    ])
    func adversarialTextIsOfNoHarm(unit: String) {
        let text = String(repeating: unit, count: 20_000 / unit.utf8.count)
        #expect(!excerpt(text, .max).isEmpty)
        #expect(!excerpt(text, 9_999).isEmpty)
    }

    @Test func bodyThatIsNotCompleteIsTreatedAsCut() {
        func excerpt(_ body: Data, _ isComplete: Bool) -> String {
            Redaction.standard.excerpt(of: body, isComplete: isComplete)
        }
        #expect(excerpt(Data("code=12".utf8), true) == "code=12")
        #expect(excerpt(Data("code=12".utf8), false) == "code=<redacted>")
        let half = Data("aé".utf8).prefix(2)
        #expect(excerpt(half, true) == "<2 bytes of binary data>")
        #expect(excerpt(half, false) == "a")
    }

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
