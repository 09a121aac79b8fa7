#if os(Linux)
import Foundation
import InterceptorsTestSupport
import Testing

@Suite(.againstHanging) struct ZlibShimTests {
    /// The shim declares zlib's layouts and numbers, so that building needs no headers. Where the headers are
    /// installed, they must agree.
    @Test(.enabled(if: Compiler.mustCheck(header: "zlib.h"), Comment(rawValue: Compiler.absenceOfHeaders)))
    func layoutAndNumbersAreThoseOfTheHeader() async throws {
        let shim = Repository.root.appending(path: "Sources/CZlib/CZlib.c")
        let text = try String(contentsOf: shim, encoding: .utf8)
        let layout = try #require(text.firstMatch(of: /typedef struct (\{[^}]+\}) z_stream;/)).1
        let enumeration = try #require(text.firstMatch(of: /enum \{[^}]+\};/)).0
        let numbers = enumeration.replacing("Z_", with: "OWN_")
        var source =
            "#include <stddef.h>\n#include <stdint.h>\n#include <zlib.h>\nstruct shim_stream \(layout);\n\(numbers)\n"
        source += "_Static_assert(sizeof(struct shim_stream) == sizeof(z_stream), \"size\");\n"
        let fields = [
            "next_in", "avail_in", "total_in", "next_out", "avail_out", "total_out", "msg", "state", "zalloc", "zfree",
            "opaque", "data_type", "adler", "reserved",
        ]
        for field in fields {
            source +=
                "_Static_assert(offsetof(struct shim_stream, \(field)) == offsetof(z_stream, \(field)), \"\(field)\");\n"
        }
        for name in ["NO_FLUSH", "FINISH", "OK", "STREAM_END", "BUF_ERROR", "DEFLATED"] {
            source += "_Static_assert(OWN_\(name) == Z_\(name), \"\(name)\");\n"
        }
        let result = try await Compiler.check(source)
        #expect(result.status == 0, "\(result.complaint)")
    }

    /// On Apple's platforms, the shim takes the declarations of the SDK's header, and repeats none.
    @Test(.enabled(if: Compiler.mustCheck(header: "zlib.h"), Comment(rawValue: Compiler.absenceOfHeaders)))
    func shimUsesTheHeaderOfApplesSDK() async throws {
        let folder = Repository.root.appending(path: "Sources/CZlib")
        let text = try String(contentsOf: folder.appending(path: "CZlib.c"), encoding: .utf8)
        let result = try await Compiler.check(
            "#define ZLIB_CONST\n#include <zlib.h>\n" + text,
            "-U__linux__",
            "-D__APPLE__",
            "-Werror",
            "-I",
            folder.appending(path: "include").path
        )
        #expect(result.status == 0, "\(result.complaint)")
    }

    /// A platform that the list forgets, such as Mac Catalyst, compiles and then doesn't link.
    @Test func zlibIsLinkedOnEachPlatformOfApple() throws {
        let manifest = Repository.root.appending(path: "Package.swift")
        let text = try String(contentsOf: manifest, encoding: .utf8)
        let list = try #require(text.firstMatch(of: /linkedLibrary\("z", \.when\(platforms: \[([^\]]+)\]/)).1
        let platforms = Set(list.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) })
        #expect(platforms == [".macOS", ".macCatalyst", ".iOS", ".tvOS", ".watchOS", ".visionOS"])
    }
}
#endif
