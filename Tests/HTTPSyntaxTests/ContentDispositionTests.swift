import InterceptorsSyntax
import Testing

/// RFC 6266, with the examples of its section 5 and of greenbytes' collection of test cases.
@Suite(.againstHanging) struct ContentDispositionTests {
    @Test(arguments: [
        (#"Attachment; filename=example.html"#, "example.html"),
        (#"INLINE; FILENAME= "an example.html""#, "an example.html"),
        (#"attachment; filename*= UTF-8''%e2%82%ac%20rates"#, "€ rates"),
        (#"attachment; filename="EURO rates"; filename*=utf-8''%e2%82%ac%20rates"#, "€ rates"),
        (#"attachment; filename*=utf-8'en'%e2%82%ac%20rates; filename="EURO rates""#, "€ rates"),
        (#"attachment; filename*=iso-8859-1''foo-%E4.html"#, "foo-ä.html"),
        (#"attachment; filename="f\oo \"quoted\".html""#, #"foo "quoted".html"#),
        (#"attachment; filename=a b.txt; size=3"#, "a b.txt"),
        (#"attachment; foo="; filename=no.txt"; filename=yes.txt"#, "yes.txt"),
        (#"attachment; filename="one.txt"; filename="two.txt""#, "one.txt"),
        (#"attachment; filename="foo-ä.html""#, "foo-ä.html"),
        (#"attachment; filename="foo-%41.html""#, "foo-%41.html"),
        (#"attachment; filename="name.txt"; filename*=UTF-8''%ff%fe"#, "name.txt"),
        (#"attachment; filename="name.txt"; filename*=koi8-r''%C1"#, "name.txt"),
        (#"attachment;;filename=name.txt"#, "name.txt"),
    ])
    func theNameIsThatOfTheField(value: String, name: String) {
        #expect(ContentDisposition.filename(in: value) == name)
    }

    @Test(arguments: [
        ("/etc/passwd", "passwd"), ("../../.ssh/authorized_keys", "authorized_keys"), ("..\\\\run.bat", "run.bat"),
        ("C:\\\\dir\\\\a.txt", "a.txt"), (".bashrc", "bashrc"), ("a\u{202E}gpj.exe", "agpj.exe"), (" a.txt ", "a.txt"),
        ("a\u{7}b\u{0}.txt", "ab.txt"), (". . a", "a"),
    ])
    func aPathAndWhatHidesIsLeftOut(text: String, name: String) {
        #expect(ContentDisposition.filename(in: "attachment; filename=\"\(text)\"") == name)
    }

    @Test(arguments: ["%2Fetc%2Fpasswd", "..%2Fpasswd", "..%5Cpasswd", "%2e%2e%2Fpasswd"])
    func anEncodedPathIsLeftOutToo(text: String) {
        #expect(ContentDisposition.filename(in: "attachment; filename*=UTF-8''\(text)") == "passwd")
    }

    @Test(arguments: [
        "", "attachment", "attachment; filename", "attachment; filename=", #"attachment; filename="""#,
        #"attachment; filename="..""#, #"attachment; filename="a/""#, "attachment; filename=.",
        "attachment; name=a.txt",
        "attachment; filename*=a.txt", "attachment; filename=\u{1}", "; ; ;",
    ])
    func aFieldWithoutAUsableNameHasNone(value: String) {
        #expect(ContentDisposition.filename(in: value) == nil)
    }

    @Test func aNameThatNoFileSystemTakesIsNone() {
        let most = String(repeating: "ä", count: 127) + "b"
        #expect(ContentDisposition.filename(in: "inline; filename=\"\(most)\"") == most)
        #expect(ContentDisposition.filename(in: "inline; filename=\"\(most)b\"") == nil)
    }
}
