import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsRecordings

@Suite(.againstHanging) struct FolderNameTests {
    @Test(arguments: [
        ("https://h.org/users/42", "h.org/GET/users/42"), ("https://h.org/", "h.org/GET/index"),
        ("https://h.org", "h.org/GET/index"), ("https://h.org/users/", "h.org/GET/users/index"),
        ("https://h.org?a=1", "h.org/GET/index?a=1"), ("https://h.org/users/index", "h.org/GET/users/%69ndex"),
        ("https://h.org/getUser?Q=Swift&page=2#top", "h.org/GET/getUser?Q=Swift&page=2"),
        ("https://H.org:443/%61/caf%c3%a9", "h.org/GET/a/caf%C3%A9"), ("http://h.org:80/a", "h.org/GET/a"),
        ("http://localhost:8080/a:b", "localhost,8080/GET/a%3Ab"), ("https://u:p@h.org:8443/a", "h.org,8443/GET/a"),
        ("https://[::1]:81/a", "%5B%3A%3A1%5D,81/GET/a"), ("/a", "GET/a"), ("/a%2Fb/c%3Fd", "GET/a%2Fb/c%3Fd"),
        ("/a//b", "GET/a/index/b"), ("/..%2F/%2e%2E/.git", "GET/%2E.%2F/%2E./%2Egit"), ("/*/**", "GET/%2A/%2A%2A"),
        ("/a?b?c/d", "GET/a?b%3Fc%2Fd"), ("/a?", "GET/a?"), ("/a b'\"<>|\\", "GET/a%20b%27%22%3C%3E%7C%5C"),
        ("/%00%zz", "GET/%00%25zz"), ("/a%2Bb+c%3D", "GET/a%2Bb+c%3D"), ("/v1.2/logo.png", "GET/v1.2/logo.png"),
    ])
    func urlHasAName(url: String, name: String) { #expect(FolderName(.get, url).description == name) }

    @Test(arguments: [
        (["h.org", "GET", "users", "42"], "h.org/GET/users/42"), (["GET", "café"], "GET/caf%C3%A9"),
        (["GET", "users", "*"], "GET/users/*"), (["*", "**"], "*/**"), (["GET", "index?a=*"], "GET/index?a=*"),
        (["GET", "index"], "GET/index"), (["GET", "it's"], "GET/it%27s"), (["%67%65%74", "a"], "%67%65%74/a"),
        (["get", "GET", "a"], "get/GET/a"),
    ])
    func fileHasAName(path: [String], name: String) { #expect(FolderName(file: path)?.description == name) }

    @Test(arguments: [["a"], ["get", "a"], ["h.org", "a"], ["GET"], ["%47ET", "a"], []])
    func fileOutsideOfAMethodHasNone(path: [String]) { #expect(FolderName(file: path) == nil) }

    @Test(arguments: [("GET", "GET"), ("M-SEARCH", "M-SEARCH"), ("get", "%67%65%74"), ("A.B", "A%2EB"), ("*", "%2A")])
    func methodIsAFolder(method: String, folder: String) throws {
        #expect(FolderName.folder(of: try #require(HTTPRequest.Method(rawValue: method))) == folder)
    }

    @Test(arguments: [
        ("/a?token=hushhush&b=1", "GET/a?token=*&b=1"), ("/p;token=hushhush/x", "GET/p;token=*/x"), ("/*", "GET/%2A"),
    ])
    func secretIsAStar(url: String, name: String) {
        #expect(FolderName(.get, ExchangeRedaction.standard.url(url), isRedacted: true).description == name)
    }

    @Test func longNameIsCutAndKeepsApartWhatDiffersAtItsEnd() throws {
        let segment = "/" + String(repeating: "aB%2F", count: 100)
        let deep = String(repeating: "/a", count: 41)
        let wide = "/" + Array(repeating: String(repeating: "a", count: 150), count: 5).joined(separator: "/")
        for long in [segment, deep, wide, "/a?" + segment] {
            let names = ["1", "2"].map { FolderName(.get, long + $0) }
            #expect(names[0] != names[1])
            for name in names {
                let path = name.path(extension: "abcdefghij")
                #expect(path.count == 2 && path.allSatisfy { $0.utf8.count <= 250 }, "\(name)")
                #expect(FolderName(file: ["GET"] + name.segments) == name)
                #expect(name.scope == nil)
            }
        }
    }

    /// The URL without unnecessary percent-encoding.
    private static let parts = [
        "a", "A", "é", "%", "%2F", "%2e", ".", "..", "/", "index", "?", "=", "&", "+", "%2B", "#", "*", ":", ",", "@",
        "~",
        ".json", ".head", " ", "\\", "%00", "%69", "users", "x",
    ]

    @Test func everyNameIsAFileOfItsURLAlone() throws {
        let seed = DailySeed.value
        var random = SeededGenerator(seed: seed)
        var urls: [FolderName: String] = [:]
        for _ in 0..<FullLoad.count(3_000, full: 100_000) {
            let count = Int.random(in: 0...(Int.random(in: 0..<20, using: &random) == 0 ? 90 : 6), using: &random)
            let url = "/" + (0..<count).map { _ in random.oneOf(Self.parts) }.joined()
            let name = FolderName(.get, url)
            let path = name.path(extension: "json")
            #expect(path.allSatisfy { FolderPath.isSegment($0) && $0.utf8.count <= 255 }, "\(url), seed \(seed)")
            #expect(path.joined().utf8.allSatisfy { 0x20..<0x7F ~= $0 && !"\\:*<>|\"".utf8.contains($0) })
            #expect(FolderName(file: path.dropLast() + [FileExtension.split(path.last ?? "").base]) == name, "\(url)")
            let canonical = Self.canonical(url)
            #expect(urls[name, default: canonical] == canonical, "\(url), seed \(seed)")
            urls[name] = canonical
        }
    }

    /// The URL in one spelling of all that are equal.
    private static func canonical(_ url: String) -> String {
        let text = url.prefix { $0 != "#" }
        let (path, query) = (text.prefix { $0 != "?" }, text.drop { $0 != "?" })
        func unescaped(_ part: Substring, _ kept: Set<UInt8>) -> [String] {
            var bytes = Array(part.utf8)[...]
            var result: [String] = []
            while let byte = bytes.popFirst() {
                let digits = String(decoding: bytes.prefix(2), as: UTF8.self)
                if byte == UInt8(ascii: "%"), digits.count == 2, digits.allSatisfy(\.isHexDigit),
                    let code = UInt8(digits, radix: 16)
                {
                    bytes = bytes.dropFirst(2)
                    result.append(kept.contains(code) ? "%\(code)" : "\(code)")
                } else {
                    result.append("\(byte)")
                }
            }
            return result
        }
        let delimiters = Set("=&+,@;/".utf8)
        let question = query.isEmpty ? "" : "?"
        // A slash in a query is spelled like its code.
        let inQuery = unescaped(query.dropFirst(), delimiters.subtracting("/".utf8))
        return "\(unescaped(path, delimiters))\(question)\(inQuery)"
    }
}
