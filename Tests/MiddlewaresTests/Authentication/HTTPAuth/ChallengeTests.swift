import InterceptorsTestSupport
import Testing

@testable import InterceptorsAuthentication
@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct ChallengeTests {
    private func challenges(_ values: String...) -> [Challenge] {
        values.flatMap(Challenge.all)
    }

    @Test func severalChallengesInOneFieldAndInSeveral() {
        let found = challenges(
            #"Newauth realm="apps", type=1, title="Login to \"apps\"", Basic realm="simple""#,
            "Negotiate, Digest realm=x, nonce=\"a,b\" ,  qop = \"auth,auth-int\""
        )
        #expect(
            found == [
                Challenge(
                    scheme: "newauth",
                    parameters: ["realm": "apps", "type": "1", "title": #"Login to "apps""#]
                ),
                Challenge(scheme: "basic", parameters: ["realm": "simple"]), Challenge(scheme: "negotiate"),
                Challenge(scheme: "digest", parameters: ["realm": "x", "nonce": "a,b", "qop": "auth,auth-int"]),
            ]
        )
    }

    @Test func opaqueValuesAreSteppedOver() {
        #expect(
            challenges("Negotiate abc/d+e==, Basic realm=a, NTLM x") == [
                Challenge(scheme: "negotiate"), Challenge(scheme: "basic", parameters: ["realm": "a"]),
                Challenge(scheme: "ntlm"),
            ]
        )
    }

    @Test(arguments: [
        ("", 0), (",,", 0), ("=", 0), ("\"", 0), ("Basic realm=\"open", 0), ("Basic realm=a realm=b", 0),
        ("Basic realm=a, realm=b", 0), ("Basic realm=a, Digest realm=\"x", 1), ("Basic\u{1}", 0), ("Basic", 1),
        ("Basic realm=\"a\\", 0), ("Basic realm=a, =b", 0),
    ])
    func brokenOnesAreLeftOut(value: String, count: Int) {
        #expect(challenges(value).count == count)
    }

    @Test func randomBytesNeverTrap() {
        var random = SeededGenerator(seed: 7)
        let alphabet = Array("Digest realm=\"a\\\",nonce qop auth= ,x\u{7F}é")
        for _ in 0..<5_000 {
            let text = String(
                (0..<Int(random.next() % 40)).map { _ in alphabet[Int(random.next() % UInt64(alphabet.count))] }
            )
            _ = challenges(text).count
            _ = Challenge.parameters(in: text)
        }
    }
}
