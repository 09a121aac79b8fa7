import Foundation
import Testing

@testable import InterceptorsSyntax

@Suite(.againstHanging) struct URLReferenceTests {
    /// Most examples of RFC 3986 §5.4, and an absolute URL with dot segments.
    @Test(arguments: [
        ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
        ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
        (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"),
        ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../", "http://a/b/"), ("../g", "http://a/b/g"),
        ("../..", "http://a/"), ("../../g", "http://a/g"), ("../../../g", "http://a/g"),
        ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), ("..g", "http://a/b/c/..g"),
        ("./../g", "http://a/b/g"), ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"),
        ("g;x=1/../y", "http://a/b/c/y"), ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/../x", "http://a/b/c/g#s/../x"),
        ("HTTP://b/../x", "http://b/x"), ("g:h", "g:h"),
    ])
    func relativeReferenceResolvesAsTheRFCsExamples(reference: String, expected: String) throws {
        let base = try #require(URLReference("http://a/b/c/d;p?q"))
        #expect(URLReference(reference)?.resolved(against: base).text == expected)
    }

    @Test(arguments: [
        ("x", "https://h", "https://h/x"),
        ("?q", "https://h", "https://h?q"),
        ("/a b/\u{E9}", "https://h/", "https://h/a%20b/%C3%A9"),
        ("/100%/%41?a|b", "https://h/", "https://h/100%25/%41?a%7Cb"),
        ("/\\evil.com/x", "https://h/", "https://h/%5Cevil.com/x"),
        ("https://user:hunter2@g/x", "https://h/", "https://g/x"),
        ("//h@evil.com@g", "https://h/", "https://g"),
        ("//\u{301}g/x", "https://h/", "https://\u{301}g/x"),
        ("//u@\u{301}g/x", "https://h/", "https://\u{301}g/x"),
    ])
    func whatAURLCannotHoldIsEncodedAndUserInformationIsDropped(text: String, base: String, expected: String) throws {
        let base = try #require(URLReference(base))
        #expect(URLReference(text)?.resolved(against: base).text == expected)
    }

    @Test(arguments: ["https://a\\b/x", "//a b/", "/a\tb", "/a\r\nX: y", "\u{7F}"])
    func referencesThatParsersReadDifferentlyAreRefused(text: String) {
        #expect(URLReference(text) == nil)
    }
}
