#if os(Linux)
import Foundation
import TestSupport
import Testing

@Suite(.againstHanging) struct CurlShimTests {
    private static let folder = Repository.root.appending(path: "Sources/CCurl")

    /// The shim declares libcurl's numbers and layouts, so that building needs no headers. Where headers are installed,
    /// they must agree.
    @Test(.enabled(if: Headers.mustBeChecked(of: "curl/curl.h"), Comment(rawValue: Headers.absence)))
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
        let compiler = try await Command.run(
            "/usr/bin/cc",
            ["-fsyntax-only", "-Wno-deprecated-declarations", "-x", "c", "-"],
            input: Data(source.utf8)
        )
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

/// Headers of the system's libraries, and a compiler for them.
enum Headers {
    /// Whether to compare a shim with a header: yes if it is installed, and always in CI.
    static func mustBeChecked(of header: String) -> Bool {
        let isInstalled = [
            "/usr/include", "/usr/local/include", "/usr/include/x86_64-linux-gnu", "/usr/include/aarch64-linux-gnu",
        ]
        .contains { FileManager.default.fileExists(atPath: "\($0)/\(header)") }
        let canCompile = FileManager.default.isExecutableFile(atPath: "/usr/bin/cc")
        return isInstalled && canCompile || ProcessInfo.processInfo.environment["CI"] != nil
    }

    static let absence =
        "There is no C compiler, or the headers are not installed"
        + " (Debian, Ubuntu: apt-get install gcc libcurl4-openssl-dev libssl-dev; Scripts/test does it in CI)"
}
#endif
