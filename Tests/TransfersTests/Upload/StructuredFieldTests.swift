import InterceptorsTestSupport
import Testing

@testable import InterceptorsTransfers

/// RFC 9651 §3 and §4.2.
@Suite(.againstHanging) struct StructuredFieldTests {
    @Test(
        arguments: [
            ("0", 0), ("42", 42), ("-42", -42), ("007", 7), (" 42 ", 42), ("999999999999999", 999_999_999_999_999),
            ("42;a", 42), ("42; a=1;b=\"x;y\"", 42),
        ] as [(String, Int64)]
    )
    func anIntegerIsRead(text: String, value: Int64) { #expect(StructuredField.item(text) == .integer(value)) }

    @Test(arguments: [("?1", true), ("?0", false), ("?1;x=2", true)])
    func aBooleanIsRead(text: String, value: Bool) { #expect(StructuredField.item(text) == .boolean(value)) }

    @Test(
        arguments: [
            "1.5", "-0.125", "\"text\"", "\"a \\\"b\\\" \\\\\"", "token", "*a/b:c", "@1659578233",
            "%\"f%c3%bc\"",
        ]
    )
    func otherTypesAreSkipped(text: String) { #expect(StructuredField.item(text) == .other) }

    @Test(arguments: [(":aGVsbG8=:", "hello"), ("::", ""), (":aGVsbG8:", "")])
    func bytesAreRead(text: String, bytes: String) { #expect(StructuredField.item(text) == .bytes(Array(bytes.utf8))) }

    @Test(
        arguments: [
            "", " ", "-", "--1", "1.", "1.2345", "1234567890123.1", "9999999999999999", "1,2", "1 2", "+1", "0x1",
            "1e3",
            "?2", "?", "true;", "\"a", "\"a\\x\"", "\"\u{7F}\"", "\"ä\"", ":a", ":ä:", "@1.5", "@", "5;A=1", "5;",
            "5;a=",
            "(1 2)", "\t1",
        ]
    )
    func aMalformedItemIsNone(text: String) { #expect(StructuredField.item(text) == nil) }

    @Test func aDictionaryIsRead() {
        let members = StructuredField.dictionary(
            #"max-size=10, a;x, b=?0 ,c="1, d=2";y=1,\#td=(1 "two" three);z, max-size=12,*x_.-=:aa==:, e=()"#
        )
        #expect(
            members == [
                "max-size": .integer(12), "a": .boolean(true), "b": .boolean(false), "c": .other, "d": .other,
                "*x_.-": .bytes([105]), "e": .other,
            ]
        )
        #expect(StructuredField.dictionary("") == [:])
    }

    @Test(arguments: ["a=1,", ",a=1", "a=1 b=2", "A=1", "a=", "a=(1", "a=(1,2)", "a=(1\"b\")", "a = 1", "1=1", "a=1;"])
    func aMalformedDictionaryIsNone(text: String) { #expect(StructuredField.dictionary(text) == nil) }
}
