import Foundation
import InterceptorsCore
import InterceptorsTesting
import Testing

@Suite(.againstHanging) struct HTTPQueryTests {
    @Test(arguments: [
        ("plain", "plain"),
        ("a b", "a%20b"),
        ("a+b", "a%2Bb"),
        ("a&b=c", "a%26b%3Dc"),
        ("50%", "50%25"),
        ("%20", "%2520"),
        ("a/b?c#d", "a%2Fb%3Fc%23d"),
        ("~-._", "~-._"),
        ("!*'();:@$,[]", "%21%2A%27%28%29%3B%3A%40%24%2C%5B%5D"),
        ("ü", "%C3%BC"),
        ("u\u{308}", "u%CC%88"),
        ("日本", "%E6%97%A5%E6%9C%AC"),
        ("👍🏽", "%F0%9F%91%8D%F0%9F%8F%BD"),
        ("\r\n\u{0}\u{7F}", "%0D%0A%00%7F"),
        ("\"<>\\^`{|}", "%22%3C%3E%5C%5E%60%7B%7C%7D"),
        ("", ""),
    ])
    func onlyUnreservedCharactersStay(text: String, encoded: String) {
        let query: HTTPQuery = ["q": text]
        #expect(query.encoded == "q=\(encoded)")
        var named = HTTPQuery()
        named.append(text, "v")
        #expect(named.encoded == "\(encoded)=v")
    }

    @Test func everyByteComesBackThroughADecoder() throws {
        let all = String(String.UnicodeScalarView((0...0x2FF).compactMap(Unicode.Scalar.init)))
        let query: HTTPQuery = ["q": all]
        let components = try #require(URLComponents(string: "https://h/?\(query.encoded)"))
        #expect(components.queryItems?.first?.value == all)
    }

    @Test func literalTakesValuesOfManyTypes() {
        enum Order: String, URLValue { case newest }
        enum Level: Int, URLValue { case high = 3 }
        struct UserID: URLValue {
            let number: Int
            var urlText: String { "u/\(number)" }
        }
        let id = UUID()
        let query: HTTPQuery = [
            "s": "x", "i": -1, "big": UInt64.max, "d": 0.1, "b": false, "o": Order.newest, "l": Level.high,
            "u": UserID(number: 7), "id": id, "dec": Decimal(string: "1.25"), "sub": "abc".dropFirst(),
        ]
        #expect(
            query.encoded
                == "s=x&i=-1&big=18446744073709551615&d=0.1&b=false&o=newest&l=3&u=u%2F7&id=\(id.uuidString)&dec=1.25&sub=bc"
        )
    }

    @Test func nilIsLeftOut() {
        let cursor: String? = nil
        let page: Int? = 2
        let query: HTTPQuery = ["after": cursor, "page": page, "none": nil]
        #expect(query.encoded == "page=2")
        #expect((["after": cursor] as HTTPQuery).isEmpty)
    }

    @Test func orderAndDuplicatesAreKept() {
        let query: HTTPQuery = ["b": 1, "a": 2, "b": 3]
        #expect(query.encoded == "b=1&a=2&b=3")
    }

    @Test func dictionaryBecomesAQueryInTheOrderOfItsNames() {
        let values = ["b": "1 2", "a": "&"]
        #expect(HTTPQuery(values).encoded == "a=%26&b=1%202")
        #expect(HTTPQuery(["b": "1", "a": "2", "b": "3"]).encoded == "b=1&a=2&b=3")
    }

    @Test func dictionaryBecomesFieldsInTheOrderOfTheirNames() {
        let values = ["X-B": "1", "Accept": "a"]
        #expect(HTTPFields(values).map(\.name.rawName) == ["Accept", "X-B"])
        #expect(HTTPFields(["X-B": "1", "A": "2", "x-b": "3"]).map(\.value) == ["1", "2", "3"])
        let spaced = ["X A": "1"]
        #expect(HTTPFields(spaced).allSatisfy { !$0.isValid })
        #expect(HTTPFields(["X-A": "1", "X-A": "2"])[values: "X-A"] == ["1", "2"])
    }

    @Test(arguments: [
        (HTTPQuery.ArrayFormat.repeated, "t=a&t=b%2Cc&t=&x=1"),
        (.brackets, "t%5B%5D=a&t%5B%5D=b%2Cc&t%5B%5D=&x=1"),
        (.commaSeparated, "t=a,b%2Cc,&x=1"),
    ])
    func arraysAreWrittenAsTold(format: HTTPQuery.ArrayFormat, encoded: String) {
        let query: HTTPQuery = ["t": ["a", "b,c", ""], "x": 1]
        #expect(HTTPQuery(query, arrays: format).encoded == encoded)
        var appended = HTTPQuery(arrays: format)
        appended.append("t", ["a", "b,c", ""])
        appended.append("x", 1)
        #expect(appended.encoded == encoded)
    }

    @Test(arguments: [HTTPQuery.ArrayFormat.repeated, .brackets, .commaSeparated])
    func emptyArrayIsLeftOut(format: HTTPQuery.ArrayFormat) {
        let query = HTTPQuery(["t": [Int](), "x": 1], arrays: format)
        #expect(query.encoded == "x=1")
        #expect(HTTPQuery(["t": [Int]()], arrays: format).isEmpty)
    }

    @Test func descriptionShowsNoSecret() {
        let query: HTTPQuery = ["api_key": "hunter2", "tokens": ["hunter2"], "q": "cats"]
        #expect(String(reflecting: query) == "api_key=<redacted>&tokens=<redacted>&q=cats")
        let nested: HTTPQuery = ["next": "https://h/?token=hunter2", "q": "a+b", "tags": ["x", "y"]]
        #expect(nested.description == "next=<redacted>&q=a%2Bb&tags=x&tags=y")
    }

    @Test func noDumpShowsASecret() throws {
        let client = Client(
            baseURL: URL(string: "https://ada:hunter2@h/?token=hunter2"),
            interceptors: [],
            transport: StubTransport()
        )
        let endpoint = EndpointRequest<NoContent>.post(
            "https://ada:hunter2@h/x?token=hunter2",
            body: .form(["password": "hunter2"]),
            query: ["password": "hunter2"]
        )
        var text = ""
        dump(client, to: &text)
        dump(endpoint, to: &text)
        #expect(!text.contains("hunter2"), "\(text)")
        #expect(text.contains("password=<redacted>"))
    }

    @Test(
        arguments: [
            (
                "a=1&b=x%20y&a=2&c", false, ["a", "b", "a", "c"], "x y",
                "a=1&b=x%20y&a=2&c="
            ),
            ("b=x+y%2B", true, ["b"], "x y+", "b=x+y%2B"), ("b=x+y", false, ["b"], "x+y", "b=x%2By"),
            ("&&b==%", false, ["b"], "=%", "b=%3D%25"), ("", false, [], nil, ""),
            (
                "a=1&\u{301}b=2&b=\u{301}x", false, ["a", "\u{301}b", "b"], "\u{301}x",
                "a=1&%CC%81b=2&b=%CC%81x"
            ),
        ] as [(String, Bool, [String], String?, String)]
    )
    func textIsReadAsItsItems(
        text: String,
        spacesAsPlus: Bool,
        names: [String],
        b: String?,
        encoded: String
    ) {
        let query = HTTPQuery(parsing: text, spacesAsPlus: spacesAsPlus)
        #expect(query.names == names)
        #expect(query["b"] == b)
        #expect(query.encoded == encoded)
    }

    @Test func itemsAreReadAndReplacedByName() {
        var query: HTTPQuery = ["a": 1, "b": [1, 2], "a": 3, "c": "x"]
        #expect(query["a"] == "1")
        #expect(query[values: "a"] == ["1", "3"])
        #expect(query[values: "b"] == ["1", "2"])
        #expect(query["z"] == nil)
        query["a"] = "9"
        query[values: "b"] = []
        query["c"] = nil
        query["d"] = "y"
        query.append(contentsOf: ["e": true])
        #expect(query.encoded == "a=9&d=y&e=true")
    }
}
