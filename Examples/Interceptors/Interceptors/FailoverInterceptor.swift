package import Foundation
package import Interceptors

/// Sends a request to a second server when the first one fails.
///
/// Place it outside of credentials, so that each server gets its own:
/// `[.failover(from: first, to: second), .bearerAuth(firstTokens), .bearerAuth(secondTokens)]`.
package struct FailoverInterceptor: PlacedInterceptor {
    let first: Origin
    let second: URL

    package var placement: [ChainRole] { [.resends, .outside(.addsCredentials)] }

    package func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard Origin(request.url) == first else { return try await next(request) }
        let outcome: Result<HTTPResponse, any Error>
        do { outcome = .success(try await next(request)) } catch { outcome = .failure(error) }
        // A cancelled call ends here, whatever error the network reports.
        try Task.checkCancellation()
        guard OutcomeCondition.hostFailure.matches(outcome, to: request), mayRepeat(request, after: outcome),
            let moved = moved(request)
        else { return try outcome.get() }
        // A response that isn't returned must not keep its connection.
        if case .success(let response) = outcome { response.body.discard() }
        request.note("failover to \(second.host() ?? "the second server")")
        return try await next(moved)
    }

    /// A POST may have had its effect, unless nothing was sent. A stream that was read can't be sent again.
    private func mayRepeat(_ request: HTTPRequest, after outcome: Result<HTTPResponse, any Error>) -> Bool {
        guard request.body.isReadable else { return false }
        if request.method.isIdempotent || request.headers.contains(.idempotencyKey) { return true }
        guard case .failure(let error as any HTTPError) = outcome else { return false }
        return error.sentNothing
    }

    /// The request for the second server, without the credentials that the caller has for the first.
    private func moved(_ request: HTTPRequest) -> HTTPRequest? {
        guard var parts = URLComponents(url: request.url, resolvingAgainstBaseURL: true) else { return nil }
        (parts.scheme, parts.host, parts.port) = (second.scheme, second.host(), second.port)
        guard let url = parts.url else { return nil }
        var moved = request
        moved.url = url
        moved.headers = HTTPFields(
            request.headers.filter { !Redaction.standard.isSensitive($0.name.rawName) }
        )
        moved.context.resendCount += 1
        return moved
    }
}

extension Interceptor where Self == FailoverInterceptor {
    /// Sends a request for the first server to the second one when the first one fails.
    package static func failover(from first: Origin, to second: URL) -> Self { Self(first: first, second: second) }
}
