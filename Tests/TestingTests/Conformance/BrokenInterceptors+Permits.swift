import Foundation
import InterceptorsCore
import InterceptorsTestSupport

/// Wrong about permits: calls without one are refused, so no call waits for ever.
extension BrokenInterceptor {
    static let permits: [Self] = [
        permit("kept after a failure") { end in
            if case .failed(let error) = end { error is CancellationError ? 1 : 0 } else { 1 }
        },
        permit("kept after a cancellation") { end in
            if case .failed(is CancellationError) = end { 0 } else { 1 }
        },
        permit("kept after a stream that broke") { end in
            if case .read(let error?) = end, !(error is CancellationError) { 0 } else { 1 }
        },
        permit("kept after a stream that was given up") { end in
            if case .read(is CancellationError) = end { 0 } else { 1 }
        },
        permit("kept after a response") { end in if case .read(nil) = end { 0 } else { 1 } },
        Self("everyPermitComesBack", [.limitsConcurrency], fault: "kept by a call that was cancelled at once") { _ in
            let permits = Permits(10)
            return AnyInterceptor.intercept { request, next in
                try await permits.acquire()
                try Task.checkCancellation()
                defer { permits.release() }
                return try await next(request)
            }
        },
        permit("released twice") { end in if case .read(nil) = end { 2 } else { 1 } },
    ]

    private enum End {
        case failed(any Error)
        case read((any Error)?)
    }

    private static func permit(_ fault: String, _ releases: @escaping @Sendable (End) -> Int) -> Self {
        Self("everyPermitComesBack", [.limitsConcurrency], fault: fault) { _ in
            let free = Shared(10)
            return AnyInterceptor.intercept { request, next in
                var isFree = false
                free.change { free in
                    isFree = free > 0
                    if isFree { free -= 1 }
                }
                guard isFree else { throw Refused(request: request.summary) }
                var response: HTTPResponse
                do { response = try await next(request) } catch {
                    free.change { $0 += releases(.failed(error)) }
                    throw error
                }
                response.body = response.body.onEnd { error in free.change { $0 += releases(.read(error)) } }
                return response
            }
        }
    }

    private struct Refused: HTTPError {
        let code = HTTPErrorCode(rawValue: "refused")
        let message = "All permits are in use."
        let request: HTTPRequest.Summary?
        var sentNothing: Bool { true }
        let response: HTTPResponse? = nil
        let underlying: (any Error)? = nil
        var context = HTTPContext()
    }
}
