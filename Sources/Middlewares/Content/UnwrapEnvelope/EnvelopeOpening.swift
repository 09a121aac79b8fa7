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
    func open(_ response: inout HTTPResponse, from origin: EnvelopeOrigin) throws {
        let body = response.body.data ?? Data()
        switch try judgement(on: response, body) {
        case .success(let envelope):
            guard response.status.kind == .successful else { return }
            if keepsEnvelope { response.context.envelope = envelope.withoutCookies }
            Self.unwrap(&response, body, envelope.payloadPlace)
            origin.step?.add(.envelopeOpened)
        case .failure(let envelope):
            // The error, which the journal shows too, has the server's message.
            let code = envelope.code.map { " with the code \($0)" } ?? ""
            origin.step?.add(.envelopeRefused("it reports a failure\(code)"))
            let message = "The envelope reports that the call failed."
            throw Self.error(.envelopeFailure, message, of: envelope, body, response, from: origin)
        case .noEnvelope(let reason, let explanation):
            guard !passesOthers, response.status.kind == .successful else { return }
            origin.step?.add(.envelopeRefused(explanation))
            throw Self.error(reason, explanation, body, response, from: origin)
        }
    }

    private static func error(
        _ code: HTTPErrorCode,
        _ message: String,
        of envelope: Envelope? = nil,
        _ body: Data,
        _ response: borrowing HTTPResponse,
        from origin: EnvelopeOrigin
    ) -> EnvelopeError {
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
        return error
    }

    /// Whether a response becomes an error, or may become one: the envelope of streamed JSON isn't known before its end.
    func refuses(_ response: HTTPResponse) -> Bool {
        guard isUnwrapped(response.status), response.status.code != 304,
            !(204...206).contains(response.status.code), response.body.length != 0
        else { return false }
        guard let body = response.body.data else { return response.headers.isJSON }
        guard let judgement = try? judgement(on: response, body) else { return true }
        return switch judgement {
        case .success: false
        case .failure: true
        case .noEnvelope: !passesOthers && response.status.kind == .successful
        }
    }

    private func judgement(on response: borrowing HTTPResponse, _ body: Data) throws -> Judgement {
        let envelope: Envelope
        do {
            envelope = try Envelope(response, body: body, paths)
        } catch {
            let reason: HTTPErrorCode = error.kind == .malformed ? .malformed : .notAnEnvelope
            return .noEnvelope(reason, explanation: error.explanation)
        }
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
