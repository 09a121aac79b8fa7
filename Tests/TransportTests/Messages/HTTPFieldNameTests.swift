import InterceptorsTransport
import Testing

@Suite(.againstHanging) struct HTTPFieldNameTests {
    @Test(arguments: ["Accept", "x", "X-Client_1", "!#$%&'*+-.^_`|~", "123"])
    func aTokenIsAName(text: String) throws {
        let name = try #require(HTTPField.Name(text))
        #expect(name.rawName == text)
        #expect(HTTPField(name: name, value: "x")?.isValid == true)
    }

    @Test(arguments: [
        "", " ", "a b", "a:", ":a", "a\r\nb", "a\n", "a\u{0}", "é", "a/b", "a(b", "a\"b", "a,b", "a;b", "a=b", "a\tb",
        "<a>",
        "{a}", "[a]", "a@b", "a?b", "a\\b", "\u{212A}", "😀",
    ])
    func anythingElseIsNone(text: String) {
        #expect(HTTPField.Name(text) == nil)
        let name = HTTPField.Name(stringLiteral: text)
        #expect(!HTTPField(unchecked: name, "x").isValid)
        #expect(HTTPField(name: name, value: "x") == nil)
    }

    @Test func namesCompareWithoutRegardToCase() {
        let name: HTTPField.Name = "X-Client-ID"
        #expect(name == "x-client-id")
        #expect(name == "X-CLIENT-ID")
        #expect(name.hashValue == HTTPField.Name("x-client-id").hashValue)
        #expect(name != "X-Client-IE")
        #expect(name != "X-Client-I")
        #expect(name != "X_Client_ID")
        #expect(Set<HTTPField.Name>(["a", "A", "b"]).count == 2)
    }

    @Test func onlyASCIILettersHaveACase() {
        // `@` and the backquote, like `[` and `{`, differ only in the bit that distinguishes the case of letters.
        #expect(HTTPField.Name(stringLiteral: "a^") != HTTPField.Name(stringLiteral: "a~"))
        #expect(HTTPField.Name(stringLiteral: "a@") != HTTPField.Name(stringLiteral: "a`"))
        #expect(HTTPField.Name(stringLiteral: "[") != HTTPField.Name(stringLiteral: "{"))
        #expect(HTTPField.Name(stringLiteral: "\u{212A}") != HTTPField.Name(stringLiteral: "k"))
        #expect(HTTPField.Name(stringLiteral: "É") != HTTPField.Name(stringLiteral: "é"))
        #expect(HTTPField.Name(stringLiteral: "e\u{301}") != HTTPField.Name(stringLiteral: "\u{E9}"))
    }

    // Pairs with the same 32-bit FNV-1a hash.
    @Test(arguments: [("costarring", "liquid"), ("declinate", "macallums"), ("altarage", "zinke")])
    func namesOfTheSameHashAreToldApart(first: String, second: String) throws {
        let (one, other) = (try #require(HTTPField.Name(first)), try #require(HTTPField.Name(second)))
        try #require(one.hashValue == other.hashValue)
        #expect(one != other)
        #expect(Set([one, other]).count == 2)
    }

    @Test func knownNamesHaveTheirUsualSpelling() {
        #expect(HTTPField.Name.eTag.description == "ETag")
        #expect(HTTPField.Name.wwwAuthenticate.rawName == "WWW-Authenticate")
        #expect(HTTPField.Name.te == "te")
    }
}
