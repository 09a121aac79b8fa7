import Testing

@testable import InterceptorsTransport

/// The names of members under a secret name: those that a program reads stay, and keys of dictionaries don't.
@Suite(.againstHanging) struct WordShapeTests {
    @Test(arguments: [
        "ABCD-EFGH", "qWmZkTbYxLpRvNcH", "qwmzktbyxlprvnch", "QWMZKTBYXLPR", "abcd-efgh", "wkzq_xqvj", "a1B2c3D4",
        "eyJhbGciOiJI", "correct horse", "", "_", "Zoë", "hgkz7",
    ])
    func aKeyOfADictionaryUnderASecretIsHidden(key: String) {
        let redaction = Redaction.standard.keepingTypes(placeholder: "REDACTED")
        for value in ["true", "{\"user\":1}"] {
            let printed = redaction.text(#"{"backup_codes":{"\#(key)":\#(value)}}"#)
            #expect(printed.hasPrefix(#"{"backup_codes":{"REDACTED":"#), "\(printed)")
        }
    }

    @Test(arguments: [
        "id", "x", "user_id", "userID", "avatarURL", "cachedTokens", "cached_tokens", "accepted_prediction_tokens",
        "AccessKeyId", "SecretAccessKey", "SessionToken", "Expiration", "expires_at", "eTag", "line2", "sha1", "$oid",
        "json", "length", "authorization_details", "keyword", "project", "copyright", "status", "createdAt", "isAdmin",
    ])
    func aNameOfAMemberUnderASecretIsKept(name: String) {
        let redaction = Redaction.standard.keepingTypes(placeholder: "REDACTED")
        let text = #"{"session":{"\#(name)":true}}"#
        #expect(redaction.text(text) == text)
    }
}
