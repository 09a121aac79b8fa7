internal import Interceptors

/// What tells certain answers from others: mostly a status or an error, which every answer is asked for in little time.
struct AnswerCriteria: Sendable {
    private var statuses: [Int] = []
    private var statusesWithRetryAfter: [Int] = []
    private var errors: [@Sendable (any Error) -> Bool] = []

    /// Responses with one of these statuses, or errors that an interceptor inside has made of one.
    init(statuses: [HTTPResponse.Status]) { self.statuses = statuses.map(\.code) }

    /// The same, where the response has a `Retry-After`.
    init(statusesWithRetryAfter statuses: [HTTPResponse.Status]) { statusesWithRetryAfter = statuses.map(\.code) }

    /// Errors of which the closure says so.
    init(error: @escaping @Sendable (any Error) -> Bool) { errors = [error] }

    init() {}

    static func || (left: Self, right: Self) -> Self {
        var both = left
        both.statuses += right.statuses
        both.statusesWithRetryAfter += right.statusesWithRetryAfter
        both.errors += right.errors
        return both
    }

    /// Whether a response of this status may meet them.
    func mayBeMet(by status: HTTPResponse.Status) -> Bool {
        statuses.contains(status.code) || statusesWithRetryAfter.contains(status.code)
    }

    private func areMet(by response: HTTPResponse) -> Bool {
        statuses.contains(response.status.code)
            || statusesWithRetryAfter.contains(response.status.code) && response.headerFields.contains(.retryAfter)
    }

    func areMet(by answer: Result<HTTPResponse, any Error>) -> Bool {
        switch answer {
        case .success(let response): return areMet(by: response)
        case .failure(let error):
            if let response = (error as? any ResponseError)?.response, areMet(by: response) {
                return true
            }
            return errors.contains { $0(error) }
        }
    }
}
