internal import Foundation
internal import Interceptors

/// A pattern of paths, segment by segment: `*` takes one that is not empty, `**` at the end takes what is left.
struct PathPattern: Sendable, CustomStringConvertible {
    let description: String
    private let segments: [Substring]

    init(_ pattern: String) {
        description = pattern
        segments = Self.segments(of: pattern)
    }

    func matches(_ path: String) -> Bool {
        var rest = Self.segments(of: path)[...]
        for (index, segment) in segments.enumerated() {
            if segment == "**", index == segments.count - 1 { return true }
            guard let candidate = rest.popFirst() else { return false }
            guard segment == "*" ? !candidate.isEmpty : Self.areSame(segment, candidate) else { return false }
        }
        return rest.isEmpty
    }

    // A leading slash may be left out.
    private static func segments(of path: String) -> [Substring] {
        (path.hasPrefix("/") ? path.dropFirst() : path[...]).split(separator: "/", omittingEmptySubsequences: false)
    }

    // A pattern may be written decoded or as it stands on the wire.
    private static func areSame(_ segment: Substring, _ candidate: Substring) -> Bool {
        segment == candidate || decoded(segment) == decoded(candidate)
    }

    private static func decoded(_ segment: Substring) -> String { segment.removingPercentEncoding ?? String(segment) }
}

/// An answer for the requests of one method, or of any, to the paths of a pattern.
struct Route: Sendable {
    typealias Handler = @Sendable (MockServer.Request) async throws -> MockResponse

    let method: HTTPRequest.Method?
    let pattern: PathPattern
    let readsBody: Bool
    let handler: Handler

    func matches(_ request: MockServer.Request) -> Bool {
        (method == nil || method == request.method) && pattern.matches(request.path)
    }
}

extension Route: CustomStringConvertible {
    var description: String { "\(method?.rawValue ?? "any method") \(pattern)" }
}
