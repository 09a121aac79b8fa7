internal import Foundation

/// An interceptor of a chain with a journal.
struct JournalHop: Interceptor {
    let base: any Interceptor
    let name: JournalName
    let journal: Journal

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        let visit = journal.begin(name, request)
        request.context.journalVisit = visit
        do {
            let entry = JournalEntry(visit: visit)
            let response = try await base.intercept(request, next: next.preceded(by: entry))
            visit.end(response)
            return response
        } catch {
            visit.end(error)
            throw error
        }
    }
}

/// The way from an interceptor to the rest of the chain. A request that the interceptor made itself, or kept from another call,
/// goes on as a part of this run.
private struct JournalEntry: Interceptor {
    let visit: JournalVisit

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        // The elements of a `when` come before this, and the request carries the run of the last of them.
        if request.context.journalVisit?.isInside(visit) != true { request.context.journalVisit = visit }
        return try await next(request)
    }
}

/// The transport of a chain with a journal.
struct JournalEnd: Transport {
    let base: any Transport
    let name: JournalName
    let journal: Journal

    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        let visit = journal.begin(name, request)
        request.context.journalVisit = visit
        do {
            var response = try await base.send(request)
            if let timings = response.context.timings { visit.add(.timed(timings)) }
            if let connection = response.context.connection { visit.add(.connected(connection)) }
            // Only here, and only a one-shot stream: any other body would become another kind of body.
            if response.body.isUnreadStream {
                response.body = response.body.onEnd(counting: { count, error in visit.record(bodyOf: count, error) })
            }
            visit.end(response)
            return response
        } catch {
            visit.end(error)
            throw error
        }
    }
}

/// An element of a chain.
struct JournalName: Sendable {
    let text: String
    let isTransport: Bool
    /// Whether the element is the outermost one of its chain.
    let isFirst: Bool
}

extension JournalVisit {
    fileprivate func record(bodyOf count: Int64, _ error: (any Error)?) {
        if let error {
            add(
                error.isCancelled
                    ? CallNote("bodyDiscarded", "the rest was discarded after \(count) bytes")
                    : CallNote(
                        "bodyFailed",
                        "the body failed after \(count) bytes: \(JournalWriter.message(of: error))"
                    )
            )
        }
        add(.bodyEnded(size: max(0, count)))
    }
}
