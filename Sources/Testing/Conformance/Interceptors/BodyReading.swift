internal import Foundation
internal import InterceptorsCore

extension InterceptorConformance.Bench {
    /// More chunks than any content of a check has.
    private var mostChunks: Int { 100_000 + content.count }
    /// More bytes than a decoder makes of the check's content.
    private var mostBytes: Int { 64 << 20 + 64 * content.count }

    /// Reads content to its end.
    ///
    /// - Throws: the error of the content. If the content goes on and on, a failure that says so.
    @discardableResult
    func readToEnd(_ body: HTTPBody) async throws -> Data {
        var iterator = body.makeAsyncIterator()
        return try await readToEnd(&iterator)
    }

    /// As the other method, and leaves the iterator at the end.
    @discardableResult
    func readToEnd(_ iterator: inout HTTPBody.AsyncIterator) async throws -> Data {
        var (bytes, count) = (Data(), 0)
        while let chunk = try await iterator.next() {
            bytes.append(chunk)
            count += 1
            guard count > mostChunks || bytes.count > mostBytes else { continue }
            throw fail(
                "The reader got \(count) chunks with \(bytes.count) bytes, and no end.",
                as: InterceptorConformance.CallLog.endOfStream
            )
        }
        return bytes
    }

    /// Reads content to its end, or to its error. Throws only if the content has no end.
    func drain(_ body: HTTPBody) async throws {
        try await log.whileReading {
            do { try await readToEnd(body) } catch  where !(error is RuleFailure) {
                // Another rule is about the errors of streams.
            }
        }
    }

    /// Reads the content of a good response to its end.
    func read(_ response: HTTPResponse) async throws -> Data {
        try await reading { try await readToEnd(response.body) }
    }

    /// Calls a closure that reads the content of a good response.
    func reading<Value>(_ read: () async throws -> Value) async throws -> Value {
        do {
            return try await log.whileReading(read)
        } catch  where !(error is RuleFailure) {
            throw fail("Reading a good response failed: \(error).", as: "theContentComesBack")
        }
    }
}
