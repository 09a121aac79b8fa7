/// A request with a secret in one place.
///
/// Whatever keeps or prints messages must show none of them: the journal, recordings.
public struct PlantedSecret: Sendable {
    /// The secret. Nothing else contains this text.
    public static let value = "s3cr3tV4lue"

    /// The URL, with or without the secret.
    public var url = "https://a.example/"
    /// The field that holds the secret.
    public var field: (name: String, value: String)?
    /// The text content that holds the secret.
    public var body: String?

    /// A secret in each place and under each name that `Redaction.standard` knows.
    public static let all: [PlantedSecret] =
        inFields(names) + inItems(items) + elsewhere + [PlantedSecret(field: ("X-Note", "Bearer \(value)"))]

    /// The secrets that `Redaction.credentials` knows too.
    public static let credentials: [PlantedSecret] = {
        let others = ["X-Signature", "X-Forwarded-User", "X-PIN", "X-Credential", "X-SAML"]
        let otherItems = ["code", "sig", "signature", "session", "pin", "key", "auth", "sid"]
        return inFields(names.filter { !others.contains($0) }) + inItems(items.filter { !otherItems.contains($0) })
            + elsewhere
    }()

    private static let names = [
        "Authorization", "Cookie", "X-Api-Key", "Proxy-Authorization", "X-Auth-Token", "X-Session", "X-CSRF-Token",
        "X-Amz-Security-Token", "X-Access-Token", "X-Client-Secret", "X-User-Password", "X-JWT", "X-Refresh-Token",
        "X-Signature", "X-Forwarded-User", "X-PIN", "X-OTP", "Ocp-Apim-Subscription-Key", "X-Credential", "X-SAML",
    ]

    private static let items = [
        "token", "access_token", "api_key", "apiKey", "password", "code", "sig", "signature", "client_secret",
        "session", "jwt", "otp", "pin", "refresh_token", "X-Amz-Signature", "X-Amz-Credential", "key", "auth", "sid",
        "user[password]",
    ]

    private static func inFields(_ names: [String]) -> [PlantedSecret] {
        names.flatMap { name in
            [value, "Bearer \(value)", "a=\(value); b=\(value)"].map { PlantedSecret(field: (name, $0)) }
        }
    }

    private static func inItems(_ items: [String]) -> [PlantedSecret] {
        items.flatMap { item -> [PlantedSecret] in
            let encoded = item.replacing("[", with: "%5B").replacing("]", with: "%5D").replacing("_", with: "%5F")
            let bodies = [
                #"{"\#(item)":"\#(value)"}"#, #"{"a":[{"\#(item)":["\#(value)"]}]}"#, "a=1&\(encoded)=\(value)",
            ]
            let nested = item == "code" ? [] : [#"{"a":{"\#(item)":{"b":[1,"\#(value)"]}}}"#]
            return [
                PlantedSecret(url: "https://a.example/?a=1&\(encoded)=\(value)"),
                PlantedSecret(url: "https://a.example/p;\(encoded)=\(value)/q"),
            ] + (bodies.prefix(item == "code" ? 1 : 3) + nested).map { PlantedSecret(body: $0) }
        }
    }

    private static let elsewhere = [
        PlantedSecret(field: ("Set-Cookie", "sid=\(value); Path=/; HttpOnly")),
        PlantedSecret(field: ("Location", "https://ada:\(value)@a.example/?a=1")),
        PlantedSecret(field: ("Link", "<https://a.example/?token=\(value)>; rel=\"next\"")),
        PlantedSecret(field: ("Referer", "https://a.example/?token=\(value)")),
        PlantedSecret(url: "https://a.example/?next=https%3A%2F%2Fb.example%2F%3Ftoken%3D\(value)"),
    ]
}
