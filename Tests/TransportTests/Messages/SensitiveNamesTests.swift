import Testing

@testable import InterceptorsTransport

/// Every word of ``Redaction/standard``, in every spelling.
@Suite(.againstHanging) struct SensitiveNamesTests {
    private let redaction = Redaction.standard

    @Test(arguments: SensitiveWords.standard.parts)
    func everyPartIsFoundAnywhereInAName(part: String) {
        for name in [part, "my-" + part, part + "_of_user", "X-My" + part.uppercased() + "2", "a." + part] {
            #expect(redaction.isSensitive(name), "\(name)")
            #expect(redaction.text("\(name)=hush&a=1") == "\(name)=<redacted>&a=1")
        }
        for index in part.indices {
            var broken = part
            broken.replaceSubrange(index...index, with: "0")
            let isStillPart = SensitiveWords.standard.parts.contains { broken.contains($0) }
            #expect(redaction.isSensitive("zz" + broken) == isStillPart, "\(broken)")
        }
    }

    @Test(arguments: SensitiveWords.standard.wholes)
    func everyNameIsFoundAsAWhole(name: String) {
        for spelling in [
            name, name.uppercased(), "user[" + name + "]", "user." + name, "user/" + name, "ns:" + name, "X-" + name,
            "x_" + name,
        ] {
            #expect(redaction.isSensitive(spelling), "\(spelling)")
        }
        #expect(redaction.text("{\"\(name)\":\"hush\"}") == "{\"\(name)\":\"<redacted>\"}")
        #expect(!redaction.isSensitive("zz" + name + "zz"))
        #expect(!redaction.isSensitive("X" + name + "z"))
    }

    @Test(arguments: SensitiveWords.standard.endings)
    func everyEndingIsFoundBehindAHyphenOrUnderscore(ending: String) {
        for name in ["X-Acme-" + ending, "acme_" + ending, "ACME-" + ending.uppercased(), "user.my-" + ending] {
            #expect(redaction.isSensitive(name), "\(name)")
        }
        #expect(!redaction.isSensitive("acme" + ending + "zz"))
        #expect(!redaction.isSensitive(ending + "-zz"))
    }

    @Test(arguments: SensitiveWords.credentials.wholes + SensitiveWords.credentials.suffixes)
    func everyCredentialIsFoundAlone(name: String) {
        let credentials = Redaction.credentials
        #expect(credentials.isSensitive(name) && credentials.isSensitive("user." + name.uppercased()))
        #expect(
            credentials.isSensitive("my_" + name)
                == SensitiveWords.credentials.suffixes.contains { name.hasSuffix($0) }
        )
        #expect(!credentials.isSensitive(name + "zz"))
    }

    @Test(arguments: [
        "X-Session", "X-SID", "X-Key", "DPoP", "X-Ticket", "X-Login", "X-Pin", "X-OTP", "X-Auth", "X-Pass", "X_Session",
        "X-Acme-Session", "X-User", "X-User-Id", "X-Forwarded-User", "Remote-User", "X-Auth-Token", "X-Session-Id",
        "X-Session-Key", "X-App-Key", "DB_PASS", "rspauth",
    ])
    func fieldsThatTellAUserAreSensitive(name: String) {
        #expect(redaction.isSensitive(name))
        #expect(redaction.isSensitive(HTTPField.Name(stringLiteral: name)))
        #expect(redaction.value(of: HTTPField(unchecked: HTTPField.Name(stringLiteral: name), "hush")) == "<redacted>")
    }

    @Test(arguments: [
        "X-Request-ID", "X-Correlation-ID", "X-Author", "xcode", "X-Content-Type-Options", "Idempotency-Key", "user",
        "X-Idempotency-Key", "status-code", "X-Status-Code", "X-Cache-Key", "primary_key", "login", "username", "X-",
        "x",
        "X-RateLimit-Limit", "Session-Count", "session_count", "pin-count", "DPoP-Nonce", "monkey", "map-keys",
        "User-Agent",
    ])
    func fieldsThatTellNoneAreNot(name: String) {
        #expect(!redaction.isSensitive(name))
    }
}
