import Foundation
import Testing

@testable import InterceptorsRecordings

@Suite(.againstHanging) struct RequestDifferenceTests {
    private typealias Request = RecordedExchange.Request

    private func post(_ path: String, _ body: String, _ type: String = "application/json") -> RecordedExchange.Request {
        .init(method: .post, url: "https://a.example\(path)", headers: [.contentType: type], body: Data(body.utf8))
    }

    private func sentence(
        _ request: RecordedExchange.Request,
        _ recorded: [RecordedExchange.Request],
        _ matching: RequestMatching = .standard
    ) -> String? {
        RequestDifference.sentence(request, among: recorded, matching, .standard)
    }

    @Test(arguments: [
        (#"{"name":"Ada"}"#, #"{"name":"Bob"}"#, #"its body differs at `name`: recorded "Ada", sent "Bob""#),
        (
            #"{"a":{"b":[1,{"c":2}]}}"#, #"{"a":{"b":[1,{"c":3}]}}"#,
            "its body differs at `a.b[1].c`: recorded 2, sent 3"
        ),
        (#"{"a":1}"#, #"{}"#, "its body differs at `a`: recorded 1, not sent"),
        (#"{}"#, #"{"a":null}"#, "its body differs at `a`: not recorded, sent null"),
        (#"{"a":1}"#, #"{"a":"1"}"#, "its body differs at `a`: recorded 1, sent \"1\""),
        ("[1]", "[1,{}]", "its body differs at `[1]`: not recorded, sent {}"),
        (#"{"a":1}"#, "[true]", "its body differs at `a`: recorded 1, not sent"),
        (#"{"a":1,"b":2}"#, #"{"b":2.0,"a":1e0,"c":[]}"#, "its body differs at `c`: not recorded, sent []"),
        (#"{"a":1,"password":"x"}"#, #"{"a":2,"password":"y"}"#, "its body differs at `a`: recorded 1, sent 2"),
        ("{}", "", "its body differs: recorded {}, not sent"),
        ("{\"\u{E9}\":1}", "{\"e\u{301}\":1}", "its body differs at `\u{E9}`: recorded 1, not sent"),
    ])
    func aDifferenceInJSONIsNamed(_ recorded: String, _ sent: String, _ text: String) {
        #expect(sentence(post("/u", sent), [post("/u", recorded)]) == "POST https://a.example/u was recorded; \(text).")
    }

    @Test func eachPartHasItsWords() {
        let recorded = RecordedExchange.Request(
            method: .get,
            url: "https://a.example/users/42?page=1&q=x",
            headers: [.accept: "a"]
        )
        let all: RequestMatching = [.method, .origin, .path, .query, .fields([.accept, .authorization]), .body]
        func said(_ change: (inout RecordedExchange.Request) -> Void) -> String? {
            var request = recorded
            change(&request)
            return sentence(request, [recorded], all)
        }
        let name = "GET https://a.example/users/42?page=1&q=x was recorded"
        #expect(said { $0.method = .put } == #"\#(name); its method differs: recorded "GET", sent "PUT"."#)
        #expect(
            said { $0.url = "http://a.example/users/42?page=1&q=x" }
                == #"\#(name); its origin differs: recorded "https://a.example:443", sent "http://a.example:80"."#
        )
        #expect(
            said { $0.url = "https://a.example/users/43?page=1&q=x" }
                == #"\#(name); its path differs: recorded "/users/42", sent "/users/43"."#
        )
        let query = #"its query differs at `page`: recorded "1", sent "2""#
        #expect(said { $0.url = "https://a.example/users/42?page=2&q=x" } == "\(name); \(query).")
        #expect(
            said { $0.url = "https://a.example/users/42?page=1" }
                == #"\#(name); its query differs at `q`: recorded "x", not sent."#
        )
        #expect(
            said { $0.headers[.accept] = "b" } == #"\#(name); its field Accept differs: recorded "a", sent "b"."#
        )
        #expect(
            said { $0.headers[.authorization] = "Bearer hush" }
                == #"\#(name); its field Authorization differs: not recorded, sent "REDACTED"."#
        )
        #expect(said { $0.body = Data("x".utf8) } == #"\#(name); its body differs: not recorded, sent "x"."#)
        let several = said {
            $0.method = .post
            $0.url = "https://a.example/users/42?page=2"
        }
        let method = #"its method differs: recorded "GET", sent "POST""#
        #expect(several == "\(name); \(method), and \(query). There are 1 more differences.")
    }

    @Test func anotherArrangementHasAName() {
        func parts(_ texts: String...) -> RecordedExchange.Request {
            post("/u", texts.map { "--b\r\n\r\n\($0)\r\n" }.joined() + "--b--", "multipart/mixed; boundary=b")
        }
        #expect(
            sentence(parts("x", "y"), [parts("y", "x")])
                == "POST https://a.example/u was recorded; its body is arranged in another way."
        )
    }

    @Test func anotherHeadOfAPartIsNamed() {
        func part(_ type: String) -> RecordedExchange.Request {
            post("/u", "--b\r\nContent-Type: \(type)\r\n\r\nx\r\n--b--", "multipart/mixed; boundary=b")
        }
        let text = sentence(part("text/a"), [part("text/b")])
        #expect(text?.contains(#"its body differs: recorded "x", "content-type:text/b"#) == true, "\(text ?? "")")
    }

    @Test func theNearestEntryIsNamed() {
        let recorded = [
            RecordedExchange.Request(method: .get, url: "https://a.example/users/1"), post("/users", #"{"a":1}"#),
            .init(method: .get, url: "https://a.example/posts"),
        ]
        #expect(sentence(post("/users", #"{"a":2}"#), recorded)?.hasPrefix("POST https://a.example/users was") == true)
        let user = RecordedExchange.Request(method: .get, url: "https://a.example/users/2")
        #expect(sentence(user, recorded)?.hasPrefix("GET https://a.example/users/1 was recorded") == true)
        #expect(sentence(.init(method: .put, url: "https://b.example/x/y"), recorded) == nil)
        #expect(sentence(user, []) == nil)
    }

    @Test func theBodyDecidesBetweenEqualURLs() {
        let recorded = [post("/a", #"{"a":1,"b":1}"#), post("/u", "text", "text/plain"), post("/u", #"{"a":1}"#)]
        #expect(
            sentence(post("/u", #"{"a":2}"#), recorded)
                == "POST https://a.example/u was recorded; its body differs at `a`: recorded 1, sent 2."
        )
    }

    @Test func noSecretIsNamed() {
        let long = String(repeating: "x", count: 1_000)
        let recorded = post("/u?token=hush1", #"{"password":"hush1","b":"\#(long)"}"#)
        let text = sentence(post("/u?token=hush2", #"{"password":"hush2","b":"\#(long)\n"}"#), [recorded])
        #expect(text?.contains("hush") == false)
        #expect(text?.contains("differs at `b`") == true)
        #expect((text?.count ?? 0) < 400)
    }

    @Test func formsAndPartsAreNamedByTheirItems() {
        let form = "application/x-www-form-urlencoded"
        #expect(
            sentence(post("/u", "a=1&b=2", form), [post("/u", "a=1&b=3", form)])?
                .hasSuffix(#"its body differs at `b`: recorded "3", sent "2"."#) == true
        )
        func parts(_ value: String) -> String {
            "--b\r\nContent-Disposition: form-data; name=\"n\"\r\nContent-Type: application/json\r\n\r\n{\"v\":\(value)}\r\n--b--"
        }
        let type = "multipart/form-data; boundary=b"
        #expect(
            sentence(post("/u", parts("1"), type), [post("/u", parts("2"), type)])?
                .hasSuffix("its body differs at `n.v`: recorded 2, sent 1.") == true
        )
        #expect(
            sentence(post("/u", "abc", "text/plain"), [post("/u", "abd", "text/plain")])?
                .hasSuffix(#"its body differs: recorded "abd", sent "abc"."#) == true
        )
    }
}
