import Foundation
import InterceptorsArchives
import Testing

@testable import InterceptorsRecordings

@Suite(.againstHanging) struct CanonicalJSONTests {
    private func canonical(_ text: String) throws -> Data {
        try OrderedJSON(parsing: Data(text.utf8)).canonical.data()
    }

    @Test(arguments: [
        (#"{"a":1,"b":[true,null]}"#, " {\n\"b\" : [ true , null ] ,\t\"a\":1.0}\r\n"),
        ("1", "1.0"), ("1", "10e-1"), ("1", "0.1E+1"), ("0", "-0.000e9"), ("1500", "1.5e3"), ("-12.50", "-125e-1"),
        (#""é/\n""#, #""\u00e9\/\u000A""#), (#""😀""#, #""\uD83D\uDE00""#), ("\u{FEFF}[]", "[ ]"),
        ("1e99999999999999999999", "1e99999999999999999999"),
    ])
    func equalValuesHaveEqualBytes(_ one: String, _ other: String) throws {
        #expect(try canonical(one) == canonical(other))
    }

    @Test(arguments: [
        ("1", "2"), ("1", "\"1\""), ("9007199254740993", "9007199254740992"), ("1", "10"), ("0.1", "0.01"), ("-1", "1"),
        (#"{"a":1,"a":2}"#, #"{"a":2,"a":1}"#), (#"{"a":1,"a":1}"#, #"{"a":1}"#), (#"{"a":1}"#, #"{"A":1}"#),
        ("[1,2]", "[2,1]"), ("[[],[]]", "[[[]]]"), ("[]", "{}"), ("null", "false"), (#""é""#, "\"e\u{301}\""),
        (#"["a","b"]"#, #"["ab",""]"#), (#"{"a":"b"}"#, #"["a","b"]"#), ("[1,1]", "[11]"),
        ("1e99999999999999999999", "1"),
    ])
    func differentValuesHaveDifferentBytes(_ one: String, _ other: String) throws {
        #expect(try canonical(one) != canonical(other))
    }

    @Test(arguments: [
        "", " ", "{", "[1,]", "{\"a\":}", "{a:1}", "01", "1.", ".5", "+1", "1e", "nul", "\"", "\"\\x\"", "\"\u{1}\"",
        "[1] 2", "-",
        "{\"a\":1,}", "\"\\u12\"", "'a'", "NaN", "\"\\",
    ])
    func anythingElseIsNoJSON(_ text: String) {
        #expect(throws: OrderedJSON.SyntaxError.self) { try OrderedJSON(parsing: Data(text.utf8)) }
    }

    @Test func bytesThatAreNoTextAreNoJSON() {
        #expect(throws: OrderedJSON.SyntaxError.self) { try OrderedJSON(parsing: Data([0x22, 0xFF, 0x22])) }
    }
}
