import Foundation
import InterceptorsSyntax
import Testing

@testable import InterceptorsTransport

@Suite(.againstHanging) struct MessageDigestTests {
    // Examples for FIPS 180-4.
    @Test(arguments: [
        ("", "c672b8d1ef56ed28ab87c3622c5114069bdd3ad7b8f9737498d0c01ecef0967a"),
        ("abc", "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"),
    ])
    func sha512_256OfKnownTexts(text: String, expected: String) throws {
        var own = SHA512Over256()
        own.update(text.utf8)
        let expected = stride(from: 0, to: 64, by: 2).map { offset in
            UInt8(expected.dropFirst(offset).prefix(2), radix: 16)
        }
        #expect(own.finish() == expected)
        #expect(try MessageDigest.of(Data(text.utf8), .sha512Over256) == expected)
    }

    // Examples for FIPS 180-4.
    @Test func sha512OfAKnownText() throws {
        let digest = try MessageDigest.of(Data("abc".utf8), .sha512)
        let expected =
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
            + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
        #expect(digest.hexadecimal == expected)
    }

    #if os(Linux)
    @Test func ownSHA512Over256IsThatOfOpenSSLForEveryLengthAroundItsBlocks() throws {
        for length in 0...520 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ length) }
            var own = SHA512Over256()
            own.update(bytes.prefix(length / 3))
            own.update(bytes.dropFirst(length / 3))
            #expect(own.finish() == (try MessageDigest.of(Data(bytes), .sha512Over256)), "\(length) bytes")
        }
    }
    #endif
}
