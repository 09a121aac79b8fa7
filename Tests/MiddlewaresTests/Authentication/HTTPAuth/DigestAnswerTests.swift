import Foundation
import InterceptorsSyntax
import Testing

@testable import InterceptorsAuthentication
@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct DigestChallengeTests {
    private func challenges(_ value: String) -> [Challenge] { Challenge.all(in: value) }

    @Test(arguments: [
        #"Digest realm="r""#, #"Digest nonce="n""#, #"Digest realm="r", nonce="n", algorithm=SHA3-256"#,
        #"Digest realm="r", nonce="n", qop="auth-conf""#, #"Digest realm="r", nonce="n", qop="""#,
        #"Basic realm="r", nonce="n""#,
    ])
    func whatCannotBeAnsweredIsNoDigestChallenge(value: String) {
        #expect(challenges(value).compactMap(DigestChallenge.init).isEmpty)
    }

    @Test(arguments: [("a", true), ("b", false)])
    func nonceIsStaleOnlyForTheRealmThatSaysSo(realm: String, isStale: Bool) throws {
        let challenge = Challenge(scheme: "digest", parameters: ["realm": "a", "nonce": "1"])
        let answer = DigestAnswer(
            challenge: try #require(DigestChallenge(challenge)),
            credential: PasswordCredential(username: "u", password: "p"),
            clientNonce: "c",
            count: 1
        )
        let field = "Digest realm=\(realm), nonce=2, stale=true"
        let offer = ChallengeOffer(
            HTTPResponse(status: 401, headers: [.wwwAuthenticate: field]),
            [.digest],
            apiOrigin,
            rejected: .digest(answer),
            wasInAdvance: false
        )
        #expect(offer.isStale == isStale)
    }
}

@Suite(.againstHanging) struct DigestAnswerTests {
    private func answer(
        _ challenge: String,
        _ username: String,
        _ password: String,
        clientNonce: String,
        count: UInt32 = 1
    ) throws -> DigestAnswer {
        let parsed = try #require(Challenge.all(in: challenge).first)
        return DigestAnswer(
            challenge: try #require(DigestChallenge(parsed)),
            credential: PasswordCredential(username: username, password: password),
            clientNonce: clientNonce,
            count: count
        )
    }

    private func response(_ field: String) -> String? {
        Challenge.parameters(in: String(field.dropFirst(7)))["response"]
    }

    // RFC 7616 §3.9.1
    @Test(arguments: [
        ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
        ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ])
    func examplesOfTheRFC(algorithm: String, expected: String) throws {
        let answer = try answer(
            #"Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=\#(algorithm), "#
                + #"nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS""#,
            "Mufasa",
            "Circle of Life",
            clientNonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
        )
        let field = try answer.field(method: "GET", target: "/dir/index.html", protection: .authentication)
        #expect(
            field == #"Digest username="Mufasa", realm="http-auth@example.org", "#
                + #"nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", uri="/dir/index.html", "#
                + #"response="\#(expected)", algorithm=\#(algorithm), "#
                + #"opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS", qop=auth, nc=00000001, "#
                + #"cnonce="f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ""#
        )
    }

    // RFC 2617 §3.5, and the same without qop, as in RFC 2069.
    @Test func examplesOfTheOlderRFCs() throws {
        let challenge = #"Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093""#
        let old = try answer(challenge, "Mufasa", "Circle Of Life", clientNonce: "0a4f113b")
        let field = try old.field(method: "GET", target: "/dir/index.html", protection: .authentication)
        #expect(response(field) == "6629fae49393a05397450978507c4ef1")
        let older = try old.field(method: "GET", target: "/dir/index.html", protection: nil)
        #expect(response(older) == "670fd8c2df070c60b045671b8b24ff02")
        #expect(!older.contains("cnonce") && !older.contains("nc=") && !older.contains("qop"))
    }

    // RFC 7616 §3.4.2 and §3.4.3. Python's hashlib computed the values.
    @Test func sessionAndIntegrity() throws {
        let answer = try answer(
            #"Digest realm="api@example.org", qop="auth-int", algorithm=SHA-256-sess, nonce="n0nce", userhash=true"#,
            "Jäsøn Doe",
            "Secret, or not?",
            clientNonce: "cn0nce",
            count: 26
        )
        let content = try MessageDigest.of(Data("body".utf8), .sha256).hexadecimal
        let field = try answer.field(
            method: "POST",
            target: "/doe.json?a=b",
            protection: .integrity,
            contentDigest: content
        )
        #expect(response(field) == "553538196fe6ca0e392f4d3d530c1cd00adeaa5014232015db5c2180c760b501")
        // A server that offers `userhash` also takes the name itself.
        #expect(field.contains("username*=UTF-8''J%C3%A4s%C3%B8n%20Doe"))
        #expect(field.contains("qop=auth-int, nc=0000001a"))
        #expect(!field.contains("userhash"))
    }

    @Test func nameBeyondASCIIIsSentInItsExtendedForm() throws {
        let answer = try answer(#"Digest realm="a\"b\\c", nonce="n""#, "Jäsøn Doe", "x", clientNonce: "c")
        let field = try answer.field(method: "GET", target: "/", protection: nil)
        #expect(field.hasPrefix(#"Digest username*=UTF-8''J%C3%A4s%C3%B8n%20Doe, realm="a\"b\\c", "#))
    }

    @Test func quoteFollowedByACombiningAccentDoesNotEndAQuotedString() throws {
        let challenge = "Digest realm=\"a\\\"\u{301}, qop=x\\\\\u{301}\", nonce=\"n\""
        let field = try answer(challenge, "u", "x", clientNonce: "c").field(method: "GET", target: "/", protection: nil)
        #expect(field.utf8.starts(with: "Digest username=\"u\", realm=\"a\\\"\u{301}, qop=x\\\\\u{301}\", ".utf8))
    }

    @Test func countGoesUpAndEndsWithTheNonce() throws {
        let parsed = try #require(Challenge.all(in: #"Digest realm=r, nonce=n, qop=auth"#).first)
        var session = DigestAnswer(
            challenge: try #require(DigestChallenge(parsed)),
            credential: PasswordCredential(username: "u", password: "p"),
            clientNonce: "c"
        )
        #expect(session.next()?.count == 1)
        #expect(session.next()?.count == 2)
        session.advance(to: "m", clientNonce: "d")
        #expect(session.next()?.count == 1)
        session.advance(to: "m", clientNonce: "e")
        #expect(session.next()?.count == 2)
    }
}
