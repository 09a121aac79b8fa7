#if os(Linux)
import Foundation
import TestSupport
import Testing

@Suite(.againstHanging) struct ZlibShimTests {
    /// The shim declares zlib's layouts and numbers, so that building needs no headers. Where the headers are
    /// installed, they must agree.
    @Test(.enabled(if: Compiler.mustCheck(header: "zlib.h"), Comment(rawValue: Compiler.absenceOfHeaders)))
    func layoutAndNumbersAreThoseOfTheHeader() async throws {
        let shim = Repository.root.appending(path: "Sources/CZlib/CZlib.c")
        let text = try String(contentsOf: shim, encoding: .utf8)
        let layout = try #require(text.firstMatch(of: /struct z_stream (\{[^}]+\};)/)).1
        let numbers = try #require(text.firstMatch(of: /enum \{[^}]+\};/)).0
        var source =
            "#include <stddef.h>\n#include <stdint.h>\n#include <zlib.h>\nstruct shim_stream \(layout)\n\(numbers)\n"
        source += "_Static_assert(sizeof(struct shim_stream) == sizeof(z_stream), \"size\");\n"
        let fields = [
            "next_in", "avail_in", "total_in", "next_out", "avail_out", "total_out", "msg", "state", "zalloc", "zfree",
            "opaque", "data_type", "adler", "reserved",
        ]
        for field in fields {
            source +=
                "_Static_assert(offsetof(struct shim_stream, \(field)) == offsetof(z_stream, \(field)), \"\(field)\");\n"
        }
        for (own, name) in [
            ("NO_FLUSH", "Z_NO_FLUSH"), ("FINISH", "Z_FINISH"), ("OK", "Z_OK"), ("STREAM_END", "Z_STREAM_END"),
            ("BUFFER_ERROR", "Z_BUF_ERROR"), ("DEFLATED", "Z_DEFLATED"),
        ] {
            source += "_Static_assert(\(own) == \(name), \"\(name)\");\n"
        }
        let result = try await Compiler.check(source)
        #expect(result.status == 0, "\(result.complaint)")
    }
}
#endif
