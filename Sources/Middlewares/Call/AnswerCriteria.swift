internal import InterceptorsCore

/// A set of outcomes, by status or error. Nearly every call is checked, so a check by status costs little.
struct AnswerCriteria: Sendable {
    private var statuses: [Int] = []
    private var statusesWithRetryAfter: [Int] = []
    private var errors: [@Sendable (any Error) -> Bool] = []

    /// Matches responses with one of these statuses, and errors that an inner interceptor made from such a response.
    init(statuses: [HTTPResponse.Status]) { self.statuses = statuses.map(\.code) }

    /// Matches only if the response also has a `Retry-After` field.
    init(statusesWithRetryAfter statuses: [HTTPResponse.Status]) { statusesWithRetryAfter = statuses.map(\.code) }

    /// Matches errors for which the closure returns `true`.
    init(error: @escaping @Sendable (any Error) -> Bool) { errors = [error] }

    init() {}

    /// The statuses that may match.
    var knownStatuses: Set<Int> { Set(statuses + statusesWithRetryAfter) }

    static func || (left: Self, right: Self) -> Self {
        var both = left
        both.statuses += right.statuses
        both.statusesWithRetryAfter += right.statusesWithRetryAfter
        both.errors += right.errors
        return both
    }

    private func areMet(by response: HTTPResponse) -> Bool {
        statuses.contains(response.status.code)
            || statusesWithRetryAfter.contains(response.status.code) && response.headers.contains(.retryAfter)
    }

    func areMet(by answer: Result<HTTPResponse, any Error>) -> Bool {
        switch answer {
        case .success(let response): return areMet(by: response)
        case .failure(let error):
            if let response = error.receivedResponse, areMet(by: response) {
                return true
            }
            return errors.contains { $0(error) }
        }
    }
}
