import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsTransport

/// Secrets as they appear in logs and error pages. In each text, `hush` is the secret.
@Suite(.againstHanging) struct RedactionOfShapesTests {
    private func printed(_ text: String) -> String { Redaction.standard.text(text) }

    // MARK: Names beside values

    @Test(arguments: [
        (#"{"name":"password","value":"hush"}"#, #"{"name":"password","value":"<redacted>"}"#),
        (#"{"value":"hush","name":"password"}"#, #"{"value":"<redacted>","name":"password"}"#),
        (#"{"key":"password","value":"hush"}"#, #"{"key":"<redacted>","value":"<redacted>"}"#),
        (#"{"value":"hush","type":"password","id":7}"#, #"{"value":"<redacted>","type":"password","id":7}"#),
        (#"{"type":"token","value":"hush"}"#, #"{"type":"token","value":"<redacted>"}"#),
        (#"{"name":"pin","value":1234567}"#, #"{"name":"pin","value":"<redacted>"}"#),
        (#"{"name":"password","value":null}"#, #"{"name":"password","value":null}"#),
        (#"{"name" : "p\u0061ssword" , "value" : "hush"}"#, #"{"name" : "p\u0061ssword" , "value" : "<redacted>"}"#),
        (#"{"n\u0061me":"password","v\u0061lue":"hush"}"#, #"{"n\u0061me":"password","v\u0061lue":"<redacted>"}"#),
        (
            #"{"field_name":"X-Session","stringValue":"hush"}"#,
            #"{"field_name":"X-Session","stringValue":"<redacted>"}"#
        ),
        (
            #"{"name":"password","value":{"a":["hush"],"b":"hush"},"id":7}"#,
            #"{"name":"password","value":"<redacted>","id":7}"#
        ),
        (
            #"{"value":["hush",{"c":"hush"}],"note":"a","name":"secret"}"#,
            #"{"value":"<redacted>","note":"a","name":"secret"}"#
        ),
        (
            #"{"headers":[{"name":"Accept","value":"a"},{"name":"Cookie","value":"hush"}]}"#,
            #"{"headers":[{"name":"Accept","value":"a"},{"name":"Cookie","value":"<redacted>"}]}"#
        ),
        (#"[["accept","a"],["cookie","hush"]]"#, #"[["accept","a"],["cookie","<redacted>"]]"#),
        (#"{"kty":"EC","crv":"P-256","x":"a","d":"hush"}"#, #"{"kty":"EC","crv":"P-256","x":"a","d":"<redacted>"}"#),
        (#"{"k":"hush","kty":"oct"}"#, #"{"k":"<redacted>","kty":"oct"}"#),
        (#"{"d":"7","p":"8"}"#, #"{"d":"7","p":"8"}"#),
        (#"{"name":"color","value":"red"}"#, #"{"name":"color","value":"red"}"#),
        (
            #"{"name":"color","value":"red","sub":{"name":"pin"}}"#,
            #"{"name":"color","value":"red","sub":{"name":"pin"}}"#
        ),
        (#"{"type":"code","text":"let a = 1"}"#, #"{"type":"code","text":"let a = 1"}"#),
        (#"{"required":["password","email"]}"#, #"{"required":["password","email"]}"#),
    ])
    func inJSONAValueIsSecretByTheNameBesideIt(text: String, expected: String) {
        #expect(printed(text) == expected)
        let pretty = text.replacing("{", with: "{\n  ").replacing(",", with: ",\n  ")
        #expect(!printed(pretty).contains("hush"))
    }

    @Test(arguments: [
        "{'name': 'password', 'value': 'hush'}", "{'value': b'hush', 'name': b'password'}",
        #"{name: "token", value: "hush"}"#,
        #"HTTPField(name: "X-Session", value: "hush")"#, "Header(name=Cookie, value=hush)",
        "&{Name:password Value:hush}",
        "- name: DB_PASSWORD\n  value: hush\n- name: A\n  value: b", "name=password&value=hush",
        "value=hush&name=password",
        "f[0][name]=password&f[0][value]=hush", "f%5B0%5D%5Bname%5D=password&f%5B0%5D%5Bvalue%5D=hush",
        "name: X-Api-Key\nvalue: hush hush", #"{\"name\":\"password\",\"value\":\"hush\"}"#,
        #"{"body":"{\"value\":\"hush\",\"name\":\"password\"}"}"#, "[('password', 'hush'), ('a', 'b')]",
        "OrderedDict([('Authorization', b'hush')])", #"("token", "hush")"#,
    ])
    func inOtherTextAValueIsSecretByTheNameBesideIt(text: String) {
        let result = printed(text)
        #expect(!result.contains("hush"), "\(result)")
        #expect(result.contains("<redacted>"))
    }

    @Test(arguments: [
        #"{"value":"hush","na"#, #"{"value":"hush"#, #"{"value":"hush","name":"passw"#, #"{"a":[{"value":"hush","#,
        #"{"name":"password","value":{"a":"hush","#, #"{"name":"password","value":"hush"#,
    ])
    func whereTheNameIsCutOffTheValueIsSecret(text: String) {
        let result = Redaction.standard.excerpt(of: Data((text + "xxxx").utf8), limit: text.utf8.count)
        #expect(!result.contains("hush"), "\(result)")
    }

    /// The cut may fall between a secret and the marker that follows it.
    @Test(arguments: [
        #"{"alg":"RS256","d":"hush","dp":"hush","kty":"RSA"}"#, #"{"content":"hush","name":"password"}"#,
        #"{"data":"hush","text":"hush","name":"password"}"#, "value=hush&name=password",
        #"<input value="hush" name="password">"#, #"<input name="a" value="b"><input value="hush" name="password">"#,
        #"{"clone_url":"https://hush@git.example/x"}"#, "next=https%3A%2F%2Fhush%40git.example",
        "Attribute(value='hush', name='password')",
    ])
    func noSecretIsShownWhereverItsMarkerIsCutOff(text: String) {
        let body = Data(text.utf8)
        for limit in 0..<body.count {
            let excerpt = Redaction.standard.excerpt(of: body, limit: limit)
            #expect(!excerpt.contains("hu"), "\(limit): \(excerpt)")
            let beginning = Redaction.beginning(of: body, upTo: limit, redactedBy: .standard)
            #expect(beginning?.text.contains("hus") == false, "\(limit): \(beginning?.text ?? "")")
        }
    }

    @Test func theBeginningOfATextIsRedactedBeforeItIsCut() throws {
        let text = #"{"content":"hush","name":"password"}"# + String(repeating: "é", count: 9_000)
        let beginning = try #require(Redaction.beginning(of: Data(text.utf8), upTo: 40, redactedBy: .standard))
        #expect(beginning.text == #"{"content":"<redacted>","name":"password""#.prefix(40) && beginning.isCut)
        let shown = try #require(Redaction.beginning(of: Data("aé…".utf8), upTo: 2, redactedBy: nil))
        #expect(shown.text == "a" && shown.isCut)
        // Bytes that are no text, after the limit.
        let mixed = Data("abcd".utf8) + [0, 0xFF]
        #expect(Redaction.beginning(of: mixed, upTo: 4, redactedBy: .standard)?.text == "abcd")
        #expect(Redaction.beginning(of: mixed, upTo: 5, redactedBy: .standard) == nil)
        #expect(Redaction.beginning(of: Data("ab".utf8), upTo: .max, redactedBy: .standard)?.isCut == false)
    }

    @Test func aCutBodyStillShowsItsData() {
        let text = #"{"data":[{"id":1,"text":"hello"},{"id":2,"te"#
        #expect(Redaction.standard.excerpt(of: Data((text + "xx").utf8), limit: text.utf8.count).contains("hello"))
    }

    // MARK: Python and others

    @Test(arguments: [
        ("{'token': b'hush'}", "{'token': b'<redacted>'}"), ("{b'token': b'hush'}", "{b'token': b'<redacted>'}"),
        ("{'token': u\"hush\", 'a': 1}", "{'token': u\"<redacted>\", 'a': 1}"),
        ("{'token': rb'hu\\'sh hush'}", "{'token': rb'<redacted>'}"),
        ("{'token': '''hush 'hush' hush'''}", "{'token': '''<redacted>'''}"),
        ("{'token': SecretStr('hush) hush')}", "{'token': <redacted>}"),
        ("token=bytearray(b'hush) hush'), a=1", "token=<redacted>, a=1"),
        ("INSERT … password='hu''sh hush', a=1", "INSERT … password='<redacted>', a=1"),
        (#"["password"]=> string(4) "hush""#, #"["password"]=> "<redacted>""#),
        (#"[password] => hush"#, "[password] => <redacted>"),
        (
            #"[AnyHashable("token"): "hush", AnyHashable("a"): 1]"#,
            #"[AnyHashable("token"): "<redacted>", AnyHashable("a"): 1]"#
        ),
        ("got map[token:hush user:ada]", "got map[token:<redacted> user:ada]"),
        ("mysql --password hush -h db", "mysql --password <redacted> -h db"),
        ("curl -u ada:hush https://h/", "curl -u <redacted> https://h/"),
        ("curl --user ada:hush https://h/", "curl --user <redacted> https://h/"),
        ("curl --proxy-user ada:hush https://h/", "curl --proxy-user <redacted> https://h/"),
        ("{&quot;password&quot;:&quot;hush&quot;}", "{&quot;password&quot;:&quot;<redacted>&quot;}"),
        ("{&#34;token&#34;: &#34;hush&#34;}", "{&#34;token&#34;: &#34;<redacted>&#34;}"),
        (#"Digest username="ada", nonce="a", response="hush""#, "Digest <redacted>"),
        (#"rspauth="hush", qop=auth"#, #"rspauth="<redacted>", qop=auth"#),
        ("sent Negotiate YIIChush1234567890", "sent Negotiate <redacted>"),
    ])
    func textOfOtherLanguagesLosesTheWholeSecret(text: String, expected: String) {
        #expect(printed(text) == expected)
        #expect(!printed(text).contains("hush"))
    }

    // MARK: Lines

    @Test(arguments: [
        ("password: |\n  hush\n  hush\nnext: 1", "password: <redacted>\nnext: 1"),
        ("a:\n  token: >-\n    hush\n\n    hush\n  b: 1", "a:\n  token: <redacted>\n  b: 1"),
        ("password: hush\n  hush\nnext: 1", "password: <redacted>\nnext: 1"),
        ("Cookie: a=hush;\r\n b=hush\r\nAccept: */*", "Cookie: <redacted>\r\nAccept: */*"),
        ("password: hu&sh hush\nnext", "password: <redacted>\nnext"),
        ("- token: hush\n- a: 1", "- token: <redacted>\n- a: 1"),
        ("X-Session: hush\nX-SID: hush", "X-Session: <redacted>\nX-SID: <redacted>"),
        ("Set-Cookie: sid=hush; Path=/; HttpOnly", "Set-Cookie: <redacted>"),
    ])
    func aSecretOfSeveralLinesIsHiddenWhole(text: String, expected: String) {
        #expect(printed(text) == expected)
    }

    // MARK: Private keys

    @Test(arguments: [
        "PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY",
    ])
    func aPrivateKeyIsHidden(label: String) {
        let (begin, end) = ("-----BEGIN \(label)-----", "-----END \(label)-----")
        let pem = "\(begin)\nhushHush+/hush==\nhush\n\(end)"
        #expect(printed("key\n\(pem)\nnext") == "key\n\(begin)<redacted>\(end)\nnext")
        #expect(
            printed("{\"a\":\"\(pem.replacing("\n", with: "\\n"))\",\"b\":1}")
                == "{\"a\":\"\(begin)<redacted>\(end)\",\"b\":1}"
        )
        for text in [
            pem, "config: |\n  \(pem.replacing("\n", with: "\n  "))\nx: 1", "key: \(pem)\nnext", "data=\(pem)",
            "TLS_KEY=\(pem)", "a \(begin)\nhush", "'\(pem)'", "b'\(pem.replacing("\n", with: "\\n"))'",
            pem.replacing("\n", with: " "), pem.replacing("\n", with: "\r\n"), "<x>\(pem)</x>",
            "pem=" + (pem.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""),
            "pem=" + pem.replacing(" ", with: "+").replacing("\n", with: "%0A").replacing("/", with: "%2F"),
        ] {
            #expect(!printed(text).lowercased().contains("hush"), "\(printed(text))")
            #expect(printed(printed(text)) == printed(text))
            for limit in [text.utf8.count / 2, text.utf8.count - 4] {
                #expect(!Redaction.standard.excerpt(of: Data(text.utf8), limit: limit).lowercased().contains("hush"))
            }
        }
    }

    /// Base64 may contain the letters END. A key ends only at an END after dashes.
    @Test(arguments: ["hushENDhush\nhush", "END\nhush", "hush END hush", "hush\n-END\nhush", "hushEND"])
    func theLettersENDWithinAPrivateKeyDoNotEndIt(content: String) {
        let (begin, end) = ("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----")
        #expect(printed("\(begin)\n\(content)\n\(end)\nnext") == "\(begin)<redacted>\(end)\nnext")
        #expect(printed("key: \(begin)\n\(content)") == "key: \(begin)<redacted>")
    }

    @Test func otherKeysOfPEMAndSSHAreTreatedByWhatTheyAre() {
        #expect(
            !printed("---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nhush\n---- END SSH2 ENCRYPTED PRIVATE KEY ----")
                .contains("hush")
        )
        #expect(
            !printed("-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nhush\n-----END PGP PRIVATE KEY BLOCK-----").contains(
                "hush"
            )
        )
        let certificate = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----"
        #expect(printed(certificate) == certificate)
        let publicKey = "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----"
        #expect(printed(publicKey) == publicKey)
        #expect(printed("BEGIN the PRIVATE part - END") == "BEGIN the PRIVATE part - END")
    }

    // MARK: XML

    @Test(arguments: [
        ("<key>password</key><string>hush</string><a>1</a>", "<key>password</key><string><redacted></string><a>1</a>"),
        ("<name>token</name>\n <value>hush</value>", "<name>token</name>\n <value><redacted></value>"),
        ("<value>hush</value><name>token</name>", "<value><redacted></value><name>token</name>"),
        (
            "<member><name>pin</name><value><int>hush</int></value></member>",
            "<member><name>pin</name><value><redacted></value></member>"
        ),
        ("<string name=\"api_key\">hush</string><b/>", "<string <redacted>><redacted></string><b/>"),
        ("<entry key='password'>hush</entry><b/>", "<entry <redacted>><redacted></entry><b/>"),
        ("<s:password><![CDATA[hush]]></s:password>", "<s:password><redacted></s:password>"),
        (
            "<tr><td>SECRET_KEY</td><td class=\"code\">hush</td></tr>",
            "<tr><td>SECRET_KEY</td><td <redacted>><redacted></td></tr>"
        ),
        ("<add key=\"password\" value=\"hush\"/><b/>", "<add <redacted>/><b/>"),
        ("<a x-session=\"hush\" b=\"1\">c</a>", "<a x-session=\"<redacted>\" b=\"1\">c</a>"),
        ("<name>color</name><value>red</value>", "<name>color</name><value>red</value>"),
    ])
    func inXMLAValueIsSecretByTheNameBesideIt(text: String, expected: String) {
        #expect(printed(text) == expected)
    }

    @Test(arguments: [
        (
            "<Token><TokenType>opaque</TokenType><Value>hush</Value></Token><a>1</a>",
            "<Token><redacted></Token><a>1</a>"
        ),
        ("<pin><pin>1</pin><b/>hush</pin><a>1</a>", "<pin><redacted></pin><a>1</a>"),
        ("<pin><pin a=\"/>\">1</pin><pin/>hush</pin><a>1</a>", "<pin><redacted></pin><a>1</a>"),
        ("<pin><![CDATA[</pin>hush]]></pin><a>1</a>", "<pin><redacted></pin><a>1</a>"),
        ("<pin><!-- </pin> -->hush</pin ><a>1</a>", "<pin><redacted></pin ><a>1</a>"),
        ("<pin>hush</pin2>hush", "<pin><redacted>"),
    ])
    func aSecretElementEndsAtItsOwnEndTag(text: String, expected: String) {
        #expect(printed(text) == expected)
        #expect(printed(printed(text)) == expected)
    }

    @Test(arguments: [
        "<input autocomplete=\"current-password\" value=\"pa>hush\">", "<input value='pa>hush' class='password'>",
        "<input value=\"<b>hush</b>\" class = \"password\">", "<token a='>' value='hush'/>",
        "<string a='>' name='api_key'>hush</string>",
    ])
    func aQuotedValueDoesNotEndATag(text: String) {
        #expect(!printed(text + "<a>1</a>").contains("hush"), "\(printed(text))")
        #expect(printed("<a href='#a>b'>c</a>") == "<a href='#a>b'>c</a>")
    }

    /// An odd quote before a tag makes its attributes look like the text between two strings.
    @Test(arguments: [
        "5\" <password kind=\"x\">hush</password>", "a\"<b><token\n x=\"1\">hush\n&hush</token>",
        "[1] 5\" <password kind=\"x\">hush</password>", "{\"a\":1}\"<a><password kind=\"x\">hush</password>",
        "[7:00] 5\" \"password:\" hush",
    ])
    func aStringThatEndsWithinASecretTagHidesTheRest(text: String) {
        let once = printed(text)
        #expect(!once.contains("hush") && printed(once) == once, "\(once)")
    }

    // MARK: Credentials

    @Test(arguments: [
        ("'Bearer Y2hhbmdlIGh1c2g='", "'Bearer <redacted>'"), ("Bearer hushHush=a=1&b", "Bearer <redacted>a=1&b"),
        ("Bearer hush.Hush=1", "Bearer <redacted>1"),
        ("Bearer realm=\"a\", error_description=\"b\"", "Bearer realm=\"a\", error_description=\"b\""),
    ])
    func aTokenThatEndsLikeAParameterIsHidden(text: String, expected: String) {
        #expect(printed(text) == expected)
    }

    // MARK: URLs

    @Test(arguments: [
        ("/x?%2574oken=hush", "/x?%2574oken=<redacted>"), ("/x?to%25256Ben=hush", "/x?to%25256Ben=<redacted>"),
        ("/x?name=password&value=hush", "/x?name=password&value=<redacted>"),
        ("/x?value=hush&a=1&name=token", "/x?value=<redacted>&a=1&name=token"),
        ("/x?x-session=hush", "/x?x-session=<redacted>"), ("/x?ticket=hush", "/x?ticket=<redacted>"),
    ])
    func inAURLNamesAreDecodedAsOftenAsTheyAreEncoded(url: String, expected: String) {
        #expect(Redaction.standard.redactingURL(url) == expected)
        #expect(!printed("see https://h.example" + url).contains("hush"))
    }

    // MARK: Reason phrases

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

    // MARK: Time

    @Test(arguments: [
        "'", "{'", "['a',", "{\"value\":", "{\"name\":\"password\",\"value\":[", "\"value\":\"",
        "name=password&value=a&",
        "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "END-", "- ", "----", "--x ", "-u a:", "digest ",
        "Digest response=",
        "<key>", "<key>a</key>", "<value>", "<key>token</key>", "&quot;", "token&quot;:&quot;", "token: |\n ",
        "token='''",
        "f[", "f[a]", "{", "(", "\"value\":{", "k:b'", "token=('", "%2525", "{\"kty\":", "[\"password\",",
        "[[\"password\",",
        "<a='", "<a='<a' b=", "<a=\"<a ", "<pin>", "<pin><!--", "<pin></pinx>", "<pin a='", "<a=   ", "<a='\"",
    ])
    func timeIsProportionalToTheLength(piece: String) {
        let text = String(repeating: piece, count: FullLoad.count(10_000, full: 40_000) / piece.utf8.count)
        #expect(printed(text).utf8.count <= 2_000_000)
        _ = Redaction.standard.excerpt(of: Data(("{\"" + text).utf8), limit: .max)
        _ = Redaction.standard.redactingURL("/?" + text)
    }
}
