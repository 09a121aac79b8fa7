internal import Foundation
internal import Interceptors

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
            if let timings = response.context.timings { visit.record(timings) }
            if let connection = response.context.connection { visit.record(connection) }
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

/// An element's name, with its number in the journal's table.
struct JournalName: Sendable {
    let text: String
    let number: Int
    let isTransport: Bool
    /// Whether the element is the outermost one of its chain.
    let isFirst: Bool
}

extension JournalVisit {
    fileprivate func record(_ timings: TransferTimings) {
        journal.record(.timed, of: self) { bytes, _, _ in
            for time in [timings.nameLookup, timings.connect, timings.tls, timings.firstByte, timings.total] {
                bytes.append(signed: time.journalNanoseconds)
            }
            bytes.append(timings.reusedConnection ? 1 : 0)
            return 0
        }
    }

    fileprivate func record(_ connection: HTTPConnectionInfo) {
        journal.record(.connected, of: self) { bytes, _, writer in
            bytes.append(name: connection.httpVersion?.rawValue ?? "", in: writer.names)
            bytes.append(text: connection.remoteAddress ?? "")
            bytes.append(number: UInt64(max(0, connection.remotePort ?? 0)))
            return 0
        }
    }

    fileprivate func record(bodyOf count: Int64, _ error: (any Error)?) {
        if let error {
            let isDiscarded = error.isCancelled
            journal.add(
                isDiscarded
                    ? CallNote("bodyDiscarded", "the rest was discarded after \(count) bytes")
                    : CallNote("bodyFailed", "the body failed after \(count) bytes: \(JournalFault(error).text)"),
                to: self
            )
        }
        journal.record(.bodyEnded, of: self) { bytes, _, _ in
            bytes.append(number: UInt64(max(0, count)))
            return 0
        }
    }
}

extension Duration {
    /// The duration in nanoseconds, at most about 127 years.
    var journalNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let limited = max(-4_000_000_000, min(4_000_000_000, seconds))
        return limited * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
