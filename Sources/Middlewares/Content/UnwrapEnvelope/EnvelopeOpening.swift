internal import Foundation

/// The method and URL that an error reports for a response, and the step that gets the notes about it.
struct EnvelopeOrigin: Sendable {
    let method: HTTPRequest.Method
    let url: URL
    let step: (any ObservedStep)?
}

/// The classification of a response.
private enum Judgement {
    case success(Envelope)
    case failure(Envelope)
    case noEnvelope(HTTPErrorCode, explanation: String)
}

extension UnwrapEnvelopeInterceptor {
    /// Unwraps a response whose body is in memory, leaves the response unchanged, or throws an ``EnvelopeError``.
    func open(_ response: inout HTTPResponse, _ paths: EnvelopePaths, from origin: EnvelopeOrigin) throws {
        let body = response.body.data ?? Data()
        switch try judgement(on: response, body, paths) {
        case .success(let envelope):
            guard response.status.kind == .successful else { return }
            if keepsEnvelope { response.context.envelope = envelope.withoutCookies }
            Self.unwrap(&response, body, envelope.payloadPlace)
            origin.step?.add(.envelopeOpened)
        case .failure(let envelope):
            throw origin.refusal(of: envelope, (envelope.body, isComplete: true), response)
        case .noEnvelope(let reason, let explanation):
            guard !passesOthers, response.status.kind == .successful else { return }
            throw origin.refusal(reason, explanation, (body, isComplete: true), response)
        }
    }

    /// Whether a response becomes an error, or may become one: the envelope of streamed JSON isn't known before its end.
    func refuses(_ response: HTTPResponse) -> Bool {
        guard isUnwrapped(response.status), response.status.code != 304 else { return false }
        let failsOthers = !passesOthers && response.status.kind == .successful
        switch form {
        case .fields(let fields):
            do {
                return try success.verdict(on: Envelope(response, fields)).map(!) ?? failsOthers
            } catch {
                return true
            }
        case .body(let paths):
            guard !(204...206).contains(response.status.code), response.body.length != 0 else { return false }
            guard let body = response.body.data else { return response.headers.isJSON }
            guard let judgement = try? self.judgement(on: response, body, paths) else { return true }
            return switch judgement {
            case .success: false
            case .failure: true
            case .noEnvelope: failsOthers
            }
        }
    }

    private func judgement(
        on response: borrowing HTTPResponse,
        _ body: Data,
        _ paths: EnvelopePaths
    ) throws -> Judgement {
        let parts: EnvelopeParts
        do {
            parts = try EnvelopeParts(in: body, paths)
        } catch {
            let reason: HTTPErrorCode = error.kind == .malformed ? .malformed : .notAnEnvelope
            return .noEnvelope(reason, explanation: error.explanation)
        }
        let envelope = Envelope(response, body: body, parts)
        switch try success.verdict(on: envelope) {
        case true?: return .success(envelope)
        case false?: return .failure(envelope)
        case nil:
            return .noEnvelope(.notAnEnvelope, explanation: "The body has no \(success.required(in: paths)).")
        }
    }

    private static func unwrap(_ response: inout HTTPResponse, _ body: Data, _ place: Range<Int>?) {
        // Copied, because the bytes may lie in memory that must not be written to, such as a mapped file.
        let payload = body.bytes(at: place ?? 0..<0)
        response.body = HTTPBody(payload)
        guard response.headers.contains(anyOf: fieldsOfBytes) else { return }
        if response.headers.contains(.contentLength) {
            response.headers[.contentLength] = String(payload.count)
        }
        for name in digests { response.headers.remove(name) }
    }

    private static let fieldsOfBytes = digests + [.contentLength]
    // Defined by RFC 9530; the last two by the older RFC 3230 and RFC 1864.
    private static let digests: [HTTPField.Name] = ["Content-Digest", "Repr-Digest", "Digest", "Content-MD5"]
}

extension UnwrapEnvelopeInterceptor {
    /// Returns a response unchanged if its header fields report success, and throws an ``EnvelopeError`` if they don't.
    func judgeFields(
        of response: consuming HTTPResponse,
        _ fields: EnvelopeFields,
        from origin: EnvelopeOrigin
    ) async throws -> HTTPResponse {
        let envelope = Envelope(response, fields)
        let verdict: Bool?
        do {
            verdict = try success.verdict(on: envelope)
        } catch {
            response.body.discard()
            throw error
        }
        guard let isSuccess = verdict else {
            let mayLackFields = origin.method == .head || [204, 205].contains(response.status.code)
            guard !passesOthers, response.status.kind == .successful, !mayLackFields else { return response }
            let explanation = "The response has no header field \(fields.flag ?? fields.code)."
            let body = try await beginning(of: response.body)
            throw origin.refusal(.notAnEnvelope, explanation, body, response)
        }
        if isSuccess {
            if keepsEnvelope { response.context.envelope = envelope.withoutCookies }
            return response
        }
        let body = try await beginning(of: response.body)
        throw origin.refusal(of: envelope, body, response)
    }

    /// Collects up to `limit` bytes of a body that nothing else will read.
    ///
    /// A read error ends the collection and isn't thrown, because the error that the fields report matters more.
    private func beginning(of body: HTTPBody) async throws -> (Data, isComplete: Bool) {
        if let bytes = body.data { return (bytes, true) }
        defer { body.discard() }
        var collected = Data()
        do {
            for try await chunk in body {
                let room = max(0, limit - collected.count)
                collected.append(chunk.prefix(room))
                if chunk.count > room { return (collected, false) }
            }
            return (collected, true)
        } catch {
            if error is CancellationError || Task.isCancelled { throw CancellationError() }
            return (collected, false)
        }
    }
}

extension EnvelopeOrigin {
    /// Notes that an envelope reports a failure, and returns the error.
    fileprivate func refusal(
        of envelope: Envelope,
        _ body: (Data, isComplete: Bool),
        _ response: borrowing HTTPResponse
    ) -> EnvelopeError {
        // The error, which the journal shows too, has the server's message.
        step?.add(.envelopeRefused("it reports a failure\(envelope.code.map { " with the code \($0)" } ?? "")"))
        var error = EnvelopeError(
            .envelopeFailure,
            serverCode: envelope.code,
            serverMessage: envelope.message,
            status: response.status,
            headers: response.headers,
            body: body.0,
            isBodyComplete: body.isComplete,
            method: method,
            url: url
        )
        error.context = response.context
        return error
    }

    /// Notes that a response has no envelope, and returns the error.
    fileprivate func refusal(
        _ code: HTTPErrorCode,
        _ explanation: String,
        _ body: (Data, isComplete: Bool),
        _ response: borrowing HTTPResponse
    ) -> EnvelopeError {
        step?.add(.envelopeRefused(explanation))
        var error = EnvelopeError(
            code,
            message: explanation,
            status: response.status,
            headers: response.headers,
            body: body.0,
            isBodyComplete: body.isComplete,
            method: method,
            url: url
        )
        error.context = response.context
        return error
    }
}

extension JSONScanner.Failure {
    var explanation: String {
        switch kind {
        case .notAnObject: "The body is no JSON object."
        case .malformed: "The body is broken JSON: at byte \(offset), \(problem)."
        }
    }
}

extension HTTPFields {
    /// Whether the `Content-Type` declares JSON (RFC 8259 §11, RFC 6839 §3.1).
    var isJSON: Bool {
        guard let type = mediaType else { return false }
        return type == "application/json" || type == "text/json" || type.hasSuffix("+json")
    }
}
