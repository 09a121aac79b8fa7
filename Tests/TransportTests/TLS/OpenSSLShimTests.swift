#if os(Linux)
import Foundation
import InterceptorsTestSupport
import Testing

@Suite(.againstHanging) struct OpenSSLShimTests {
    private static let header = Repository.root.appending(path: "Sources/COpenSSL/include/COpenSSL.h")

    /// The shim declares OpenSSL's numbers, so that building needs no headers. Where headers are installed, they must
    /// agree.
    @Test(.enabled(if: Compiler.mustCheck(header: "openssl/ssl.h"), Comment(rawValue: Compiler.absenceOfHeaders)))
    func numbersAreThoseOfTheHeaders() async throws {
        var source = "#include <openssl/ssl.h>\n#include <openssl/x509v3.h>\n"
        var count = 0
        for match in try String(contentsOf: Self.header, encoding: .utf8).matches(of: /COSSL_([A-Za-z0-9_]+) = (\w+),/)
        {
            source += "_Static_assert(\(match.1) == \(match.2), \"\(match.1)\");\n"
            count += 1
        }
        #expect(count > 20)
        source += "_Static_assert(sizeof(X509V3_CTX) <= 256 && CRYPTO_EX_INDEX_SSL_CTX == 1, \"ABI\");\n"
        let compiler = try await Compiler.check(source)
        #expect(compiler.status == 0, "\(compiler.complaint)")
    }
}
#endif
