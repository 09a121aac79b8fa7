import InterceptorsSyntax
import Testing

@testable import InterceptorsTransport

@Suite(.againstHanging) struct HTTPFieldsTests {
    @Test func orderDuplicatesAndSpellingAreKept() {
        var fields = HTTPFields()
        fields.append("x-B", "1")
        fields.append(.setCookie, "a=1")
        fields.append("X-a", "2")
        fields.append("SET-COOKIE", "b=2")
        fields.append("X-b", "3")
        #expect(fields.map(\.name.rawName) == ["x-B", "Set-Cookie", "X-a", "SET-COOKIE", "X-b"])
        #expect(fields.map(\.value) == ["1", "a=1", "2", "b=2", "3"])
        #expect(fields[values: .setCookie] == ["a=1", "b=2"])
        #expect(fields[values: "X-B"] == ["1", "3"])
        #expect(fields.count == 5)
    }

    @Test func aNameIsFoundInAnySpelling() {
        let fields: HTTPFields = ["ACCEPT": "a", .contentType: "b"]
        #expect(fields[.accept] == "a")
        #expect(fields["accept"] == "a")
        #expect(fields["content-TYPE"] == "b")
        #expect(fields.contains("aCCEPT"))
        #expect(!fields.contains("Accept-"))
        #expect(fields["Accep"] == nil)
        #expect(fields[""] == nil)
    }

    @Test func severalValuesAreJoined() {
        let fields: HTTPFields = [
            .accept: "a", .cookie: "a=1", .setCookie: "a=1; Path=/", .accept: "b", .cookie: "b=2", .setCookie: "b=2",
            .accept: "",
        ]
        #expect(fields[.accept] == "a, b, ")
        #expect(fields[.cookie] == "a=1; b=2")
        #expect(fields[.setCookie] == "a=1; Path=/")
    }

    @Test func settingReplacesAllOfThatNameAtTheFirstPlace() {
        var fields: HTTPFields = [.accept: "1", "X-A": "a", "accept": "2", "X-B": "b", "ACCEPT": "3"]
        fields[.accept] = "new"
        #expect(fields == [.accept: "new", "X-A": "a", "X-B": "b"])
        fields["X-C"] = "c"
        #expect(fields.last?.value == "c")
        fields["x-a"] = nil
        #expect(fields.map(\.value) == ["new", "b", "c"])
        fields["x-missing"] = nil
        #expect(fields.count == 3)
    }

    @Test func settingValuesReplacesThemAll() {
        var fields: HTTPFields = [.setCookie: "a", .accept: "x", .setCookie: "b"]
        fields[values: .setCookie] = ["c", "d"]
        #expect(fields[values: .setCookie] == ["c", "d"])
        #expect(fields.count == 3)
        fields[values: .setCookie] = []
        #expect(fields.map(\.name) == [.accept])
    }

    @Test func removing() {
        var fields: HTTPFields = [.accept: "1", "X-A": "a", "ACCEPT": "2"]
        fields.remove(.accept)
        #expect(fields.map(\.value) == ["a"])
        fields.append("X-B", "b")
        fields.removeAll { $0.value == "a" }
        #expect(fields.map(\.name) == ["X-B"])
        fields.removeAll { _ in true }
        #expect(fields.isEmpty)
        #expect(fields[.accept] == nil)
    }

    @Test func addingMissingKeepsWhatIsThere() {
        var fields: HTTPFields = ["accept": "own"]
        fields.addMissing([.accept: "default", "X-A": "1", "x-a": "2"])
        #expect(fields.map(\.value) == ["own", "1", "2"])
        fields.addMissing(fields)
        #expect(fields.count == 3)
    }

    @Test func overridingReplacesWhatIsThere() {
        var fields: HTTPFields = ["accept": "1", "X-A": "a", "Accept": "2"]
        fields.override(with: [.accept: "3", .accept: "4", "X-B": "b"])
        #expect(fields == ["X-A": "a", .accept: "3", .accept: "4", "X-B": "b"])
        fields.override(with: [:])
        #expect(fields.count == 4)
    }

    @Test func equalityLooksAtNamesWithoutCaseAtValuesAndAtOrder() {
        let fields: HTTPFields = ["X-A": "1", "X-B": "2"]
        #expect(fields == ["x-a": "1", "x-b": "2"])
        #expect(fields.hashValue == HTTPFields(["x-a": "1", "x-b": "2"] as HTTPFields).hashValue)
        #expect(fields != ["X-B": "2", "X-A": "1"])
        #expect(fields != ["X-A": "1"])
        #expect(fields != ["X-A": "1", "X-B": "2 2"])
        #expect(HTTPFields() == [:])
        #expect(HTTPFields(["b": "1", "a": "2"] as HTTPFields) == ["B": "1", "A": "2"])
    }

    @Test(arguments: [
        "a\r\nX-Evil: b", "a\nb", "a\rb", "a\u{0}b", "\u{0}", "\r\n", "a\u{7F}", "\u{1}", "\u{1B}[31m", "a\u{B}b",
        "a\r\n b",
    ])
    func aValueWithAControlCharacterIsRefused(value: String) {
        #expect(HTTPField(name: .accept, value: value) == nil)
        #expect(!HTTPField(unchecked: .accept, value).isValid)
    }

    // Eight bytes are tested together. No byte may hide another.
    @Test func aControlCharacterIsFoundAtAnyPlace() {
        var wrong: [(UInt8, Int, Int)] = []
        for count in 1...20 {
            for place in 0..<count {
                for byte in UInt8.min..<0x80 {
                    var bytes = [UInt8](repeating: place % 2 == 0 ? 0x80 : 0x20, count: count)
                    bytes[place] = byte
                    let found = bytes.withUnsafeBytes { ASCII.hasControl($0) }
                    if found != (byte < 0x20 && byte != 0x09 || byte == 0x7F) { wrong.append((byte, place, count)) }
                }
            }
        }
        #expect(wrong.isEmpty)
        #expect(![UInt8](0x80...0xFF).withUnsafeBytes { ASCII.hasControl($0) })
    }

    @Test(arguments: ["", "a", "a\tb", "a b", "é", "日本", "😀", "\u{80}", "\u{A0}", "~!@#$%^&*()\"\\", "a,b;c=d"])
    func anyOtherValueIsAccepted(value: String) throws {
        let field = try #require(HTTPField(name: .accept, value: value))
        #expect(field.value == value)
        #expect(field.isValid)
    }

    @Test(arguments: [
        (" a ", "a"), ("\ta\t", "a"), ("  a  b  ", "a  b"), ("   ", ""), ("\t", ""), (" é ", "é"),
        (" \u{A0} ", "\u{A0}"),
        (" \t \u{301}", "\u{301}"),
    ])
    func whitespaceAroundAValueIsTrimmed(value: String, trimmed: String) {
        let field = HTTPField(unchecked: .accept, value)
        #expect(Array(field.value.utf8) == Array(trimmed.utf8))
        #expect(field.isValid)
    }

    @Test func theDescriptionIsALineForEachFieldWithoutSecrets() {
        let fields: HTTPFields = [.accept: "a", .authorization: "Bearer hush"]
        #expect(fields.description == "Accept: a\nAuthorization: <redacted>")
    }

    @Test func aCopyIsIndependent() {
        let original: HTTPFields = [.accept: "a"]
        var copy = original
        copy[.accept] = "b"
        copy.append("X-A", "c")
        #expect(original == [.accept: "a"])
    }

    // A look-up of a known name allocates nothing, as a counting allocator has shown. This test shows that the look-up
    // returns the stored text, not a copy.
    @Test func aLookUpGivesTheStoredTextItself() throws {
        let fields: HTTPFields = ["X-A": "1", .contentType: "application/json; charset=utf-8"]
        func address(_ text: String?) throws -> UnsafePointer<UInt8> {
            let text = try #require(text)
            return try #require(text.utf8.withContiguousStorageIfAvailable { $0.baseAddress } ?? nil)
        }
        #expect(try address(fields[.contentType]) == address(fields.last?.value))
    }

    @Test func manyFieldsAreFine() {
        var fields = HTTPFields()
        for index in 0..<5000 {
            fields.append(HTTPField(unchecked: HTTPField.Name(stringLiteral: "X-\(index % 100)"), "\(index)"))
        }
        #expect(fields[values: "x-42"].count == 50)
        fields["x-42"] = "one"
        #expect(fields.count == 4951)
    }
}
