import Foundation
import InterceptorsSyntax
import InterceptorsTestSupport
import Testing

@testable import InterceptorsTransport

@Suite(.againstHanging) struct UsualOriginTests {
    @Test(arguments: [
        ("http://a.example", false), ("https://a.example/x?y=:0#z", true), ("https://1.2.3.4:65535/", true),
        ("http://a-b.example:1", false), ("https://a?x", true), ("http://a#x", false),
    ])
    func aPlainURLIsReadAtOnce(url: String, isTLS: Bool) throws {
        let url = try #require(URL(string: url))
        #expect(url.usualOrigin?.isSecure == isTLS)
        #expect(url.isHTTPS == isTLS)
    }

    @Test(arguments: [
        "HTTP://a.example/", "http://", "https:///x", "http:a", "http://[::1]/", "https://u@a/", "https://u:1@a/",
        "https://a:1@b/", "https://a:0/", "https://a:65536/", "https://a:/", "https://a:99999999999999999999999/",
        "https://a_b/", "ftp://a/", "/x", "https://a%2Eb/",
    ])
    func anyOtherIsLeftToTheParser(url: String) throws {
        let url = try #require(URL(string: url))
        #expect(url.usualOrigin == nil)
    }

    @Test func aSchemeInCapitalsIsTheSame() throws {
        #expect(try #require(URL(string: "HTTPS://a.example/")).isHTTPS)
        #expect(try #require(URL(string: "HTTP://a.example/")).isHTTPS == false)
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func whatIsPlainToItIsSoToTheParser(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let pieces = [
            "http://", "https://", "a", "b.c", ":", "80", "0", "65536", "/", "?", "#", "@", "-", "[", "]", "%41", "é",
        ]
        for _ in 0..<500 {
            let text = (0..<Int.random(in: 1..<8, using: &generator))
                .map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            guard let url = URL(string: (Bool.random(using: &generator) ? "http://" : "") + text),
                let origin = url.usualOrigin
            else { continue }
            #expect(url.scheme == (origin.isSecure ? "https" : "http"), "\(url)")
            #expect(url.host()?.isEmpty == false && url.user() == nil && url.password() == nil, "\(url)")
            #expect(url.port.map { 1...65_535 ~= $0 && $0 == origin.port } ?? true, "\(url)")
        }
    }
}
