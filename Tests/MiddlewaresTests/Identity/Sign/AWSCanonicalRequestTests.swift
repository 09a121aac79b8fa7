import Foundation
import Testing

@testable import Middlewares

@Suite(.againstHanging) struct AWSCanonicalRequestTests {
    @Test func pathsAreEncodedAsTheyStandOnTheWireButForS3AsWhatTheyMean() {
        let path = "/a%20b/./c//%E1%88%B4+d"
        #expect(AWSCanonicalRequest.path(path, .standard) == "/a%2520b/c/%25E1%2588%25B4%2Bd")
        #expect(AWSCanonicalRequest.path(path, .s3) == "/a%20b/./c//%E1%88%B4%2Bd")
        #expect(AWSCanonicalRequest.path("/a%2Fb", .s3) == "/a%2Fb")
        #expect(AWSCanonicalRequest.path("/%c3%a9", .standard) == "/%25c3%25a9")
        #expect(AWSCanonicalRequest.path("/%c3%a9", .s3) == "/%C3%A9")
    }

    // AWS rejected other signatures of these paths, and gave these canonical paths in its answer.
    @Test(arguments: [
        ("/*/*/_search/", "/%2A/%2A/_search/"),
        ("/*,-notme/_search", "/%2A%2C-notme/_search"),
        ("/_search/%3Fa=b%20c", "/_search/%253Fa%3Db%2520c"),
    ])
    func whatStandsUnencodedOnTheWireIsEncodedOnce(wire: String, canonical: String) throws {
        let target = WireTarget(HTTPRequest(url: try url("https://search.us-east-1.es.amazonaws.com" + wire)))
        #expect(AWSCanonicalRequest.path(target.path, .standard) == canonical)
    }
}
