import InterceptorsSyntax
import Testing

@Suite(.againstHanging) struct DotSegmentsTests {
    @Test(arguments: [
        ("", ""), ("/", "/"), ("/a", "/a"), ("/a/", "/a/"), ("/.", "/"), ("/..", "/"), ("/./a", "/a"), ("/a/.", "/a/"),
        ("/a/..", "/"), ("/a/../", "/"), ("/a/b/../c", "/a/c"), ("/../../a", "/a"), ("/a/./../b/./", "/b/"),
        ("/a//../b", "/a/b"), ("/.a/..b/c.", "/.a/..b/c."), ("a/../b", "a/../b"),
        // RFC 3986 §5.2.4
        ("/a/b/c/./../../g", "/a/g"),
    ])
    func segmentsAreRemovedAndNothingClimbsAboveTheRoot(path: String, expected: String) {
        #expect(DotSegments.removed(from: path) == expected)
    }
}
