/// The segments `.` and `..` of a path (RFC 3986 §5.2.4).
package enum DotSegments {
    /// The path without them. No `..` climbs above the root. A path that doesn't begin with a slash is returned unchanged.
    package static func removed(from path: String) -> String {
        guard path.utf8.starts(with: "/".utf8), path.utf8.contains(UInt8(ascii: ".")) else { return path }
        var kept: [Substring] = []
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch segment {
            case ".": if isLast { kept.append("") }
            case "..":
                _ = kept.popLast()
                if isLast { kept.append("") }
            default: kept.append(segment)
            }
        }
        return "/" + kept.joined(separator: "/")
    }
}
