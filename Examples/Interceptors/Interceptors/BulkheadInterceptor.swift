package import Interceptors
import Synchronization

/// Limits how many calls of each tenant run at a time, so that one busy tenant can't use up all connections.
///
/// The caller names the tenant: `client.get("/report", context: .with(\.tenant, "acme"))`.
package final class BulkheadInterceptor: PlacedInterceptor {
    private let limit: Int
    private let running = Mutex<[String: Int]>([:])

    package init(limit: Int) { self.limit = limit }
    package var placement: [ChainRole] { [.limitsConcurrency] }

    package func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        let tenant = request.context.tenant
        guard acquire(tenant) else { throw BulkheadError(request: request.summary) }
        var response: HTTPResponse
        do { response = try await next(request) } catch {
            release(tenant)
            throw error
        }
        // A stream keeps its connection, and so the permit, until it ends. A body in memory has ended.
        response.body = response.body.onEnd { [self] _ in release(tenant) }
        return response
    }

    private func acquire(_ tenant: String) -> Bool {
        running.withLock { running in
            guard running[tenant, default: 0] < limit else { return false }
            running[tenant, default: 0] += 1
            return true
        }
    }

    /// Forgets a tenant without calls, so that the dictionary doesn't grow.
    private func release(_ tenant: String) {
        running.withLock { $0[tenant] = $0[tenant].flatMap { $0 > 1 ? $0 - 1 : nil } }
    }
}

/// The error of a call that finds all permits of its tenant in use. The code makes other interceptors treat it like those of limits.
package struct BulkheadError: HTTPError {
    package let code = HTTPErrorCode.queueFull
    package let message = "All permits of the call's tenant are in use."
    package let request: HTTPRequest.Summary?
    package var sentNothing: Bool { true }
    package let response: HTTPResponse? = nil
    package let underlying: (any Error)? = nil
    package var context = HTTPContext()
}

extension HTTPContext {
    private enum TenantKey: HTTPContextKey { static var defaultValue: String { "" } }

    /// The tenant that a call is for.
    package var tenant: String {
        get { self[TenantKey.self] }
        set { self[TenantKey.self] = newValue }
    }
}
