/// The requests that a stub, or a server's route, is for: a method, or any, and a URL pattern.
package struct StubScope: Sendable {
    package let method: HTTPRequest.Method?
    package let pattern: StubPattern

    package init(_ method: HTTPRequest.Method?, _ pattern: String) {
        self.method = method
        self.pattern = StubPattern(pattern)
    }

    package func matches(_ method: HTTPRequest.Method, _ url: String) -> Bool {
        (self.method == nil || self.method == method) && pattern.matches(url)
    }

    /// Whether this scope contains every request of the other scope.
    package func covers(_ other: Self) -> Bool {
        (method == nil || method == other.method) && pattern.covers(other.pattern)
    }
}

extension StubScope: CustomStringConvertible {
    /// The method and the pattern, with secrets in the query redacted.
    package var description: String {
        "\(method?.rawValue ?? "any method") \(Redaction.standard.redactingURL(pattern.text))"
    }
}

extension StubScope {
    /// Returns the first candidate for which no other candidate is more specific. All candidates must match the same request.
    ///
    /// - Parameters:
    ///   - candidates: the candidates. If neither of two candidates is more specific, the earlier candidate wins.
    ///   - scope: returns a candidate's scope, or `nil` for a closure. A closure is more specific only than a stub for every
    ///     request.
    package static func mostSpecific<Candidate>(
        of candidates: [Candidate],
        scope: (Candidate) -> StubScope?
    ) -> Candidate? {
        guard candidates.count > 1 else { return candidates.first }
        return indexOfMostSpecific(candidates.map(scope)).map { candidates[$0] }
    }

    private static func indexOfMostSpecific(_ scopes: [StubScope?]) -> Int? {
        scopes.indices.first { index in
            !scopes.contains { isMoreSpecific($0, than: scopes[index]) }
        }
    }

    @inline(never)
    private static func isMoreSpecific(_ one: StubScope?, than other: StubScope?) -> Bool {
        guard let other else { return false }
        guard let one else { return other.covers(StubScope(nil, "**")) }
        return other.covers(one) && !one.covers(other)
    }
}

extension StubScope {
    /// A sentence that names the scope that an unanswered request probably meant; `nil` if no scope is similar.
    package static func hint(for method: HTTPRequest.Method, _ url: String, among scopes: [StubScope]) -> String? {
        if let used = scopes.first(where: { $0.matches(method, url) }) { return "\(used) is used up." }
        if let other = scopes.first(where: { $0.pattern.matches(url) }) {
            return "Did you mean \(other)? This request's method is \(method)."
        }
        let ofMethod = scopes.filter { $0.method == nil || $0.method == method }
        if let other = ofMethod.first(where: { $0.pattern.matchesPath(of: url) }) {
            return "Did you mean \(other)? This request's path matches; its origin or its query doesn't."
        }
        // Prefers a stub for the method. Short paths get no suggestion, because every one-letter path would be similar.
        let near = scopes.map { scope in
            let distance = scope.pattern.distance(toPathOf: url)
            return (scope, distance: scope.method == nil || scope.method == method ? distance : distance + 1)
        }
        guard let nearest = near.min(by: { $0.distance < $1.distance }) else { return nil }
        let length = max(StubPattern.pathLength(of: url), StubPattern.pathLength(of: nearest.0.pattern.text))
        return nearest.distance <= 2 * length / 5 ? "Did you mean \(nearest.0)?" : nil
    }
}
