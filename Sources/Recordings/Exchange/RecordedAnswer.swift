internal import Foundation
internal import InterceptorsSyntax

extension RecordedExchange {
    /// The answer to a request that equals this exchange's.
    ///
    /// Times in the fields `Date`, `Expires`, `Last-Modified`, `Retry-After` and in cookies are moved by the age of the recording,
    /// so that caches and cookies behave as they did: without `Expires`, freshness is a part of the time between `Last-Modified` and
    /// `Date` (RFC 9111 §4.2.2). `Age` is kept, and so is a value that can't be read as a date.
    ///
    /// - Parameters:
    ///   - now: the time of the answer.
    ///   - delays: whether the response, and each chunk of a stream, comes as late as it was recorded.
    ///   - request: the request, which errors name.
    func answer(now: Date, delays: Bool = false, to request: HTTPRequest? = nil) -> StubAnswer {
        var answer = content(delays: delays, request)
        // Content that fails has no end, so the trailers of such an answer are never received.
        if failure == nil { answer.trailers = response?.trailers }
        if delays { answer.delay = max(.zero, wait) }
        guard let response else { return answer }
        answer.status = response.status
        answer.headers = TimeShift(from: startedAt, to: now).apply(to: response.headers)
        return answer
    }

    private func content(delays: Bool, _ request: HTTPRequest?) -> StubAnswer {
        func notRecorded(_ message: String) -> TransportError {
            TransportError(.notRecorded, message, request: request)
        }
        let error = failure.map { TransportError(HTTPErrorCode(rawValue: $0.code), $0.message, request: request) }
        guard let response else {
            return .failure(error ?? notRecorded("The recording has neither a response nor a failure."))
        }
        if let omission = response.omission {
            return .failure(notRecorded("The recording left out this response's content. \(omission)"))
        }
        guard response.isStream || error != nil else { return StubAnswer(.body(HTTPBody(response.content))) }
        let chunks = delays ? response.chunks : response.chunks.map { StubAnswer.Chunk($0.bytes) }
        return StubAnswer(.chunks(chunks, thenFailing: error))
    }
}

/// Moves dates in a response's fields.
struct TimeShift {
    private let recorded: Int64
    private let seconds: Int64

    /// The shift between two times, in whole seconds, so that the dates of a response keep their distances.
    init(from recorded: Date, to now: Date) {
        self.recorded = CivilTime.seconds(recorded)
        let shift = now.timeIntervalSince(recorded).rounded()
        seconds = shift.isFinite ? Int64(min(max(shift, -1e12), 1e12)) : 0
    }

    func apply(to fields: HTTPFields) -> HTTPFields {
        guard seconds != 0 else { return fields }
        return HTTPFields(
            fields.map { field in
                switch field.name {
                case .date, .expires, .lastModified, .retryAfter:
                    HTTPDate.parse(field.value, now: recorded)
                        .map { HTTPField(unchecked: field.name, HTTPDate.format($0 + seconds)) } ?? field
                case .setCookie: HTTPField(unchecked: field.name, cookie(field.value))
                default: field
                }
            }
        )
    }

    private func cookie(_ value: String) -> String {
        value.split(separator: ";", omittingEmptySubsequences: false).enumerated().map { index, part in
            let name = part.prefix { $0 != "=" }
            guard index > 0, name.count < part.count,
                name.trimmingCharacters(in: .whitespaces).lowercased() == "expires",
                // Dates in cookies have more forms than in other fields.
                let date = CookieDate.parse(String(part.dropFirst(name.count + 1)))
            else { return String(part) }
            return name + "=" + HTTPDate.format(CivilTime.seconds(date) + seconds)
        }
        .joined(separator: ";")
    }
}
