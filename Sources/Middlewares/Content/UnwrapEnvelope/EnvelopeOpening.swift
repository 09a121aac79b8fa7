internal import Foundation

/// The classification of a response.
private enum Judgement {
    case success(Envelope)
    /// Without an envelope, the response isn't one.
    case refusal(HTTPErrorCode, String, Envelope?)
}

extension UnwrapEnvelopeInterceptor {
    /// Whether a response is checked, judged by its head and the place of its body.
    func mayHaveEnvelope(_ response: HTTPResponse) -> Bool {
        isUnwrapped(response.status) && response.status.code != 304 && !(204...206).contains(response.status.code)
            && response.body.length != 0 && (response.body.isInMemory || response.headers.isJSON)
    }

    /// Unwraps a response whose body is in memory, leaves the response unchanged, or throws an ``EnvelopeError``.
    func open(_ response: inout HTTPResponse, from origin: EnvelopeOrigin) throws {
        let body = response.body.data ?? Data()
        switch try judgement(on: response, body) {
        case .success(let envelope):
            guard response.status.kind == .successful else { return }
            if keepsEnvelope { response.context.envelope = envelope.withoutCookies }
            Self.unwrap(&response, body, envelope.payloadPlace)
            origin.step?.add(.envelopeOpened)
        case .refusal(let code, let message, let envelope):
            guard isError(response, envelope) else { return }
            // The error, which the journal shows too, has the server's message.
            let serverCode = envelope?.code.map { " with the code \($0)" } ?? ""
            origin.step?.add(.envelopeRefused(envelope == nil ? message : "it reports a failure\(serverCode)"))
            var error = EnvelopeError(
                code,
                serverCode: envelope?.code,
                serverMessage: envelope?.message,
                message: message,
                status: response.status,
                headers: response.headers,
                body: body,
                method: origin.method,
                url: origin.url
            )
            error.context = response.context
            throw error
        }
    }

    /// Whether a response becomes an error, or may become one: the envelope of streamed JSON isn't known before its end.
    func refuses(_ response: HTTPResponse) -> Bool {
        guard mayHaveEnvelope(response) else { return false }
        guard let body = response.body.data, let judgement = try? judgement(on: response, body) else { return true }
        return if case .refusal(_, _, let envelope) = judgement { isError(response, envelope) } else { false }
    }

    /// Whether a response that isn't an envelope of success is an error.
    private func isError(_ response: HTTPResponse, _ envelope: Envelope?) -> Bool {
        envelope != nil || !passesOthers && response.status.kind == .successful
    }

    private func judgement(on response: borrowing HTTPResponse, _ body: Data) throws -> Judgement {
        let envelope: Envelope
        do {
            envelope = try Envelope(response, body: body, paths)
        } catch {
            return .refusal(error.kind == .malformed ? .malformed : .notAnEnvelope, error.explanation, nil)
        }
        switch try success.verdict(on: envelope) {
        case true?: return .success(envelope)
        case false?: return .refusal(.envelopeFailure, "The envelope reports that the call failed.", envelope)
        case nil: return .refusal(.notAnEnvelope, "The body has no \(success.required(in: paths)).", nil)
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
