#if os(Linux)
import Foundation
import InterceptorsTestSupport
import Testing

@Suite(.againstHanging) struct CurlShimTests {
    private static let folder = Repository.root.appending(path: "Sources/CCurl")

    /// The shim declares libcurl's numbers and layouts, so that building needs no headers. Where headers are installed,
    /// they must agree.
    @Test(.enabled(if: Compiler.mustCheck(header: "curl/curl.h"), Comment(rawValue: Compiler.absenceOfHeaders)))
    func numbersAndLayoutsAreThoseOfTheHeaders() async throws {
        var source = "#include <stddef.h>\n#include <curl/curl.h>\n"
        let header = try String(contentsOf: Self.folder.appending(path: "include/CCurl.h"), encoding: .utf8)
        let names = header.matches(of: /\n    C(CURL[A-Za-z0-9_]*) = ([^,\n]+),/)
        #expect(names.count > 100)
        for name in names { source += "_Static_assert((long)\(name.1) == (long)(\(name.2)), \"\(name.1)\");\n" }

        let shim = try String(contentsOf: Self.folder.appending(path: "CCurl.c"), encoding: .utf8)
        for (name, original, fields) in [
            (
                "version_info", "curl_version_info_data",
                ["age", "version", "version_num", "host", "features", "ssl_version"]
            ),
            ("message", "CURLMsg", ["msg", "data"]),
            ("session", "struct curl_tlssessioninfo", ["backend", "internals"]),
        ] {
            source += try #require(Self.definition(of: name, in: shim))
            for field in fields {
                source +=
                    "_Static_assert(offsetof(struct \(name), \(field)) == offsetof(\(original), \(field)), \"\(field)\");\n"
            }
        }
        source += "_Static_assert(sizeof(struct message) == sizeof(CURLMsg), \"CURLMsg\");\n"
        source += "_Static_assert(offsetof(struct message, easy) == offsetof(CURLMsg, easy_handle), \"easy\");\n"
        source += "_Static_assert(CURLMSG_DONE == 1 && CURL_GLOBAL_ALL == 3, \"numbers within the shim\");\n"
        source += "_Static_assert(CURLSSLBACKEND_OPENSSL == 1, \"the TLS library\");\n"
        source += "_Static_assert(CURLUPART_URL == 0, \"the part that is the whole URL\");\n"
        let compiler = try await Compiler.check(source, "-Wno-deprecated-declarations")
        #expect(compiler.status == 0, "\(compiler.complaint)")
    }

    /// A struct's definition in the shim's source, up to its closing brace.
    private static func definition(of name: String, in source: String) -> String? {
        guard let start = source.range(of: "struct \(name) {"),
            let end = source.range(of: "\n};\n", range: start.upperBound..<source.endIndex)
        else { return nil }
        return String(source[start.lowerBound..<end.upperBound])
    }
}
#endif
