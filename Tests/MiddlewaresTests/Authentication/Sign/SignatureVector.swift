import Foundation
import Testing

@testable import InterceptorsAuthentication
@testable import InterceptorsMiddlewares

/// A case of AWS's test vectors (aws-sig-v4-test-suite). All are for 2015-08-30 12:36:00 UTC, us-east-1, `service`.
struct SignatureVector: Sendable, CustomTestStringConvertible {
    let name: String
    var method: HTTPRequest.Method = .get
    var target = "/"
    var fields: HTTPFields = [:]
    var body = ""
    var signedHeaders = "host;x-amz-date"
    let signature: String
    // The suite sends these paths unencoded, which a URL can't express. The signer decodes them first.
    var decodesFirst = false

    var testDescription: String { name }

    static let vanilla = "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
    static let unreserved = "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

    static let all: [SignatureVector] = [
        Self(name: "get-vanilla", signature: vanilla),
        Self(name: "get-vanilla without a path", target: "", signature: vanilla),
        Self(name: "get-relative", target: "/example/..", signature: vanilla),
        Self(name: "get-relative-relative", target: "/example1/example2/../..", signature: vanilla),
        Self(name: "get-slash", target: "//", signature: vanilla),
        Self(name: "get-slash-dot-slash", target: "/./", signature: vanilla),
        Self(
            name: "get-slash-pointless-dot",
            target: "/./example",
            signature: "ef75d96142cf21edca26f06005da7988e4f8dc83a165a80865db7089db637ec5"
        ),
        Self(
            name: "get-slashes",
            target: "//example//",
            signature: "9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84"
        ),
        Self(
            name: "get-space",
            target: "/example%20space/",
            signature: "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741",
            decodesFirst: true
        ),
        Self(
            name: "get-utf8",
            target: "/%E1%88%B4",
            signature: "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85",
            decodesFirst: true
        ),
        Self(
            name: "get-unreserved",
            target: "/\(unreserved)",
            signature: "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"
        ),
        Self(
            name: "get-header-key-duplicate",
            fields: ["My-Header1": "value2", "my-header1": "value2", "MY-HEADER1": "value1"],
            signedHeaders: "host;my-header1;x-amz-date",
            signature: "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"
        ),
        Self(
            name: "get-header-value-multiline",
            fields: ["My-Header1": "value1,value2,value3"],
            signedHeaders: "host;my-header1;x-amz-date",
            signature: "ba17b383a53190154eb5fa66a1b836cc297cc0a3d70a5d00705980573d8ff790"
        ),
        Self(
            name: "get-header-value-order",
            fields: ["My-Header1": "value4", "my-header1": "value1", "My-header1": "value3", "my-Header1": "value2"],
            signedHeaders: "host;my-header1;x-amz-date",
            signature: "08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01"
        ),
        Self(
            name: "get-header-value-trim",
            fields: ["My-Header1": "  value1 ", "My-Header2": " \"a   b   c\""],
            signedHeaders: "host;my-header1;my-header2;x-amz-date",
            signature: "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"
        ),
        Self(
            name: "get-vanilla-empty-query-key",
            target: "/?Param1=value1",
            signature: "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb"
        ),
        Self(name: "get-vanilla-query", target: "/?", signature: vanilla),
        Self(
            name: "get-vanilla-query-order-key-case",
            target: "/?Param2=value2&Param1=value1",
            signature: "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"
        ),
        Self(
            name: "get-vanilla-query-order-encoded",
            target: "/?Param-3=Value3&Param=Value2&%E1%88%B4=Value1",
            signature: "371d3713e185cc334048618a97f809c9ffe339c62934c032af5a0e595648fcac"
        ),
        Self(
            name: "get-vanilla-query-unreserved",
            target: "/?\(unreserved)=\(unreserved)",
            signature: "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197"
        ),
        Self(
            name: "get-vanilla-utf8-query",
            target: "/?%E1%88%B4=bar",
            signature: "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"
        ),
        Self(
            name: "post-vanilla",
            method: .post,
            signature: "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"
        ),
        Self(
            name: "post-header-key-sort",
            method: .post,
            fields: ["My-Header1": "value1"],
            signedHeaders: "host;my-header1;x-amz-date",
            signature: "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"
        ),
        Self(
            name: "post-header-value-case",
            method: .post,
            fields: ["My-Header1": "VALUE1"],
            signedHeaders: "host;my-header1;x-amz-date",
            signature: "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d"
        ),
        Self(
            name: "post-vanilla-query",
            method: .post,
            target: "/?Param1=value1",
            signature: "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11"
        ),
        Self(
            name: "post-vanilla-query-nonunreserved",
            method: .post,
            target: "/?%40%23%24%25%5E=&+=/,?%3E%3C%60%22;:%5C%7C%5D%5B%7B%7D",
            signature: "66c82657c86e26fb25238d0e69f011edc4c6df5ae71119d7cb98ed9b87393c1e"
        ),
        Self(
            name: "post-vanilla-query-space",
            method: .post,
            target: "/?p=",
            signature: "e71688addb58a26418614085fb730ba3faa623b461c17f48f2fbdb9361b94a9b"
        ),
        Self(
            name: "post-x-www-form-urlencoded",
            method: .post,
            fields: [.contentType: "application/x-www-form-urlencoded"],
            body: "Param1=value1",
            signedHeaders: "content-type;host;x-amz-date",
            signature: "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"
        ),
        Self(
            name: "post-x-www-form-urlencoded-parameters",
            method: .post,
            fields: [.contentType: "application/x-www-form-urlencoded; charset=utf8"],
            body: "Param1=value1",
            signedHeaders: "content-type;host;x-amz-date",
            signature: "1a72ec8f64bd914b0e42e42607c7fbce7fb2c7465f63e3092b3b0d39fa77a6fe"
        ),
    ]
}
