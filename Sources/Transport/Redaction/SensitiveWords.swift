/// The words by which a name is sensitive.
struct SensitiveWords: Sendable {
    /// Parts of names.
    var parts: [String] = []
    /// Whole names.
    var wholes: [String] = []
    /// Words after the last hyphen or underscore of a name.
    var endings: [String] = []
    /// Ends of names.
    var suffixes: [String] = []
    /// Whole names that aren't sensitive, whatever the other words say.
    var removed: [String] = []
}

extension SensitiveWords {
    /// Names for people.
    static let standard = SensitiveWords(
        parts: [
            "password", "passwd", "passphrase", "passcode", "pwd", "secret", "token", "authorization", "credential",
            "signature", "cookie", "sessionid", "sessid", "jwt", "assertion", "csrf", "xsrf", "saml", "cardnumber",
            "connectionstring", "apikey", "accesskey", "accountkey", "appkey", "applicationkey", "authkey",
            "clientkey", "encryptionkey", "functionskey", "masterkey", "privatekey", "sessionkey", "sharedkey",
            "signingkey", "sshkey", "subscriptionkey", "authcode", "backupcode", "devicecode", "mfacode", "otpcode",
            "recoverycode", "smscode", "verificationcode",
        ],
        // Also fields in which gateways name the user.
        wholes: [
            "auth", "bearer", "code", "codeverifier", "confirm", "cvc", "cvv", "dpop", "key", "otp", "pass", "pin",
            "pw", "rspauth", "session", "sid", "sig", "ssn", "ticket", "totp", "xauth", "xlogin", "xuser",
            "xuserid", "xusername", "xuseremail", "xaccount", "xaccountid", "xauthuser", "xauthemail",
            "xauthenticateduser", "xauthenticateduserid", "xforwardeduser", "xforwardedemail", "xremoteuser",
            "remoteuser",
        ],
        endings: [
            "auth", "bearer", "cvc", "cvv", "dpop", "otp", "pass", "pin", "pw", "session", "sid", "sig", "ssn",
            "ticket", "totp",
        ]
    )

    /// Names of credentials alone.
    static let credentials = SensitiveWords(
        wholes: [
            "assertion", "codeverifier", "cookie", "cookie2", "csrf", "cvc", "cvv", "dpop", "idtoken", "jwt", "otp",
            "pw", "rspauth", "samlresponse", "secret", "setcookie", "sig", "signature", "token", "totp",
            "xamzcredential", "xamzsignature", "xauth", "xgoogsignature", "xsession", "xsrf",
        ],
        suffixes: [
            "accesskey", "accesstoken", "accountkey", "actortoken", "apikey", "apisecret", "apitoken",
            "applicationkey", "appsecret", "authenticitytoken", "authkey", "authorization", "authtoken",
            "backupcode", "bearertoken", "clientassertion", "clientsecret", "connectionstring",
            "csrfmiddlewaretoken", "csrftoken", "devicecode", "encryptionkey", "functionskey", "identitytoken",
            "masterkey", "mfacode", "onetimecode", "otpcode", "passcode", "passphrase", "passwd", "password",
            "passwordconfirmation", "privatekey", "pwd", "recoverycode", "refreshtoken", "requestverificationtoken",
            "secretkey", "securitytoken", "sessid", "sessionid", "sessionkey", "sessiontoken", "sharedkey",
            "signingkey", "smscode", "subjecttoken", "subscriptionkey", "verificationcode", "xsrftoken",
        ]
    )
}
