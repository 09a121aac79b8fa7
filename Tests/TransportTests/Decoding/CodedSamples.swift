#if os(Linux)
import Foundation

/// A text in every coding, as other programs encode it.
enum CodedSamples {
    static let text = (0..<12).map { "line \($0): the quick brown fox jumps over the lazy dog \($0 * $0)\n" }.joined()

    static let gzip = decoded(
        """
        H4sIAAAAAAACA5XSWRKCMBAE0H9O0UfIBIjgbRCjopEgi6Cnt3TiAfp76tVsHbrew+wxXzweS9fecBjj2uMUN1yX+zAhPv34K4fm\
        /cIxnmGy8FXCKVFlOVWoyjlVqyrICZ2ykmO2VOY4lqduO/IgabeKYy4dsuZYlb4mZETE/EPCpsRK9gH5EUmblAIAAA==
        """
    )

    static let zlib = decoded(
        """
        eJyV0lkSgjAQBNB/TtFHyASI4G0Qo6KRIIugp7d04gH6e+rVbB263sPsMV88HkvX3nAY49rjFDdcl/swIT79+CuH5v3CMZ5hsvBV\
        wilRZTlVqMo5VasqyAmdspJjtlTmOJanbjvyIGm3imMuHbLmWJW+JmRExPxDwqbESvYBEvfidw==
        """
    )

    static let rawDeflate = decoded(
        """
        ldJZEoIwEATQf07RR8gEiOBtEKOikSCLoKe3dOIB+nvq1Wwdut7D7DFfPB5L195wGOPa4xQ3XJf7MCE+/fgrh+b9wjGeYbLwVcIp\
        UWU5VajKOVWrKsgJnbKSY7ZU5jiWp2478iBpt4pjLh2y5liVviZkRMT8Q8KmxEr2AQ==
        """
    )

    static let brotli = decoded(
        """
        G5MCAMSGa30lXYjA5q29iMK390AOU/4q8VkvCCEc8cAHOLexJY6niNU43cdurkDp2cXM/kO+L8+MennRX9N6YLmrXfIas/9DuTQg\
        5QRZDIoMqBVBU+wA2hALOutE0Nv0A4PdMMHosLmTfCbNxFWMsAI=
        """
    )

    static let zstd = decoded(
        """
        KLUv/QRotQMAIsUSF3DPMSDV3/b6608uVdX40ISUgqpV/3ss7e93dz+tcdIagQmnfHI+Vhjf35yPWxjLBCay1bX0NJTi6xp2rBsN\
        XoiEgmyRyYGzdRImF6gQkNy3fgaQM5cDECIumPj/3wdzGija+/hZ2Z8u6E+zkaXnTBb3p1McUAE=
        """
    )

    /// gzip first, then brotli.
    static let gzipThenBrotli = decoded(
        """
        i0aAH4sIAAAAAAACA5XSWRKCMBAE0H9O0UfIBIjgbRCjopEgi6Cnt3TiAfp76tVsHbrew+wxXzweS9fecBjj2uMUN1yX+zAhPv34\
        K4fm/cIxnmGy8FXCKVFlOVWoyjlVqyrICZ2ykmO2VOY4lqduO/IgabeKYy4dsuZYlb4mZETE/EPCpsRK9gH5EUmblAIAAAM=
        """
    )

    /// A text that is short enough to be cut at each byte.
    static let shortText = "The quick brown fox jumps over the lazy dog; the quick brown fox jumps again, and over it."

    static let shortGzip = decoded(
        """
        H4sIAAAAAAACAwvJSFUoLM1MzlZIKsovz1NIy69QyCrNLShWyC9LLVIoAUrnJFZVKqTkp1uDedgVJ6YnZubpKCTmpUD0ZZboAQAe8B3r\
        WgAAAA==
        """
    )

    /// The two halves of the text, each a separate gzip member.
    static let shortMembers = decoded(
        """
        H4sIAAAAAAACAwvJSFUoLM1MzlZIKsovz1NIy69QyCrNLShWyC9LLVIoAUrnJFZVKqTkp1srAACo414HLQAAAB+LCAAAAAAAAgMryUhV\
        KCzNTM5WSCrKL89TSMuvUMgqzS0oVkhMT8zM01FIzEtRyC9LLVLILNEDAANse0wtAAAA
        """
    )

    /// Where the first member ends, and the length of its text.
    static let firstMember = (end: 64, length: 45)

    static let shortZlib = decoded(
        "eNoLyUhVKCzNTM5WSCrKL89TSMuvUMgqzS0oVsgvSy1SKAFK5yRWVSqk5Kdbg3nYFSemJ2bm6Sgk5qVA9GWW6AEA0p0gXQ=="
    )

    static let shortRawDeflate = decoded(
        "C8lIVSgszUzOVkgqyi/PU0jLr1DIKs0tKFbIL0stUigBSuckVlUqpOSnW4N52BUnpidm5ukoJOalQPRllugBAA=="
    )

    static let shortBrotli = decoded(
        "E1kAYIzUTndzKMowqjc9WaoPSShaNdhMIcAxDhwGHK6bFtv3GBvTJjkezO+GUIrVFyHUsNj0B9kYFxv7wygROoYA"
    )

    static let shortZstd = decoded(
        """
        KLUv/SRaLQIAlANUaGUgcXVpY2sgYnJvd24gZm94IGp1bXBzIG92ZXIgdGhlIGxhenkgZG9nO2FnYWluLCBhbmRpdC4DAFsNCJUCxjXL\
        ZzF5Ng==
        """
    )

    private static func decoded(_ base64: String) -> Data { Data(base64Encoded: base64) ?? Data() }
}
#endif
