import Foundation
import InterceptorsSyntax
import Testing

@testable import InterceptorsTransport

@Suite(.againstHanging) struct MessageDigestTests {
    // Examples for FIPS 180-4.
    @Test func sha512OfAKnownText() throws {
        let digest = try MessageDigest.of(Data("abc".utf8), .sha512)
        let expected =
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
            + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
        #expect(digest.hexadecimal == expected)
    }
}
