package import Foundation

/// The value of a response without content, or with content that the caller ignores.
public struct NoContent: Codable, Sendable, Hashable {
    /// Creates the value.
    public init() {}
    /// Creates the value without reading anything from the decoder.
    public init(from decoder: any Decoder) {}
}

/// Turns the response to one request into a value.
package struct ResponseDecoding: Sendable {
    package let decoder: any BodyDecoder
    package let method: HTTPRequest.Method
    package let url: URL

    package init(decoder: any BodyDecoder, method: HTTPRequest.Method, url: URL) {
        (self.decoder, self.method, self.url) = (decoder, method, url)
    }

    private static let streamLimit = ResponseBodyMode.buffered.bufferLimit ?? 64 << 20

    package func value<Value: Decodable & Sendable>(_ type: Value.Type, of response: HTTPResponse) async throws -> Value
    {
        try await observed(response) { try await decoded(type, of: response) }
    }

    /// Throws if the status is no success, as ``value(_:of:)`` does. The content is left as it is otherwise.
    ///
    /// - Parameter refused: successes whose content isn't what was asked for.
    package func checkStatus(
        of response: HTTPResponse,
        as type: Any.Type,
        except refused: Set<HTTPResponse.Status> = []
    ) async throws {
        try await observed(response) { try await requireSuccess(type, response, except: refused) }
    }

    /// Discards the content and throws if the content isn't of a media type.
    package func checkMediaType(of response: HTTPResponse, as type: Any.Type, _ mediaType: String) async throws {
        guard response.headerFields.mediaType != mediaType else { return }
        response.body.discard()
        let found =
            response.headerFields[.contentType].map { "has the type \(PrintableText.line(String($0.prefix(100))))" }
            ?? "has no Content-Type"
        let message = "The response \(found), not \(mediaType)."
        try await observed(response) {
            throw failure(.unexpectedMediaType, type, response, body: (Data(), false), message: message)
        }
    }

    package func observed<Result>(_ response: HTTPResponse, _ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let failure as DecodingFailure {
            for observe in response.context.decodingObservers { observe(failure) }
            throw failure
        }
    }

    private func requireSuccess(
        _ type: Any.Type,
        _ response: HTTPResponse,
        except refused: Set<HTTPResponse.Status> = []
    ) async throws {
        let isSuccess = response.status.kind == .successful && !refused.contains(response.status)
        guard isSuccess || response.context.isStatusAccepted else {
            throw failure(
                .unacceptedStatus,
                type,
                response,
                body: try await response.beginning(upTo: DecodingFailure.bodyLimit)
            )
        }
    }

    private func decoded<Value: Decodable & Sendable>(
        _ type: Value.Type,
        of response: HTTPResponse
    ) async throws -> Value {
        try await requireSuccess(type, response)
        if let nothing = NoContent() as? Value {
            response.body.discard()
            return nothing
        }
        let body = try await collect(response)
        // A `String` is the text as sent, not a decoded JSON string.
        if type == String.self || type == String?.self && !body.isEmpty {
            let text = HTTPResponse.text(body, contentType: response.headerFields[.contentType])
            if let value = text as? Value { return value }
        }
        if body.isEmpty, type != Data.self {
            guard let optional = type as? any ExpressibleByNilLiteral.Type,
                let none = optional.init(nilLiteral: ()) as? Value
            else { throw failure(.emptyBody, type, response, body: (body, true)) }
            return none
        }
        if let bytes = body as? Value { return bytes }
        return try await decode(type, from: body, of: response)
    }

    private func collect(_ response: HTTPResponse, upTo limit: Int? = nil) async throws -> Data {
        if let bytes = response.body.bytes, bytes.count <= limit ?? .max { return bytes }
        do {
            return try await response.body.collect(upTo: limit ?? Self.streamLimit)
        } catch let error as TransportError where error.request == nil {
            let request = HTTPRequest(method: method, url: response.url ?? url)
            throw TransportError(error.code, error.message, request: request, underlying: error.underlying)
        }
    }

    /// Makes a value of the whole content by a closure. Without content, or with content over the limit, this throws.
    package func value<Value: Sendable>(
        _ type: Value.Type,
        of response: HTTPResponse,
        upTo limit: Int,
        by decode: (Data) async throws -> Value
    ) async throws -> Value {
        try await observed(response) {
            try await requireSuccess(type, response)
            let body = try await collect(response, upTo: limit)
            guard !body.isEmpty else { throw failure(.emptyBody, type, response, body: (body, true)) }
            do {
                return try await decode(body)
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                throw failure(.undecodable, type, response, body: (body, true), underlying: error, isJSON: false)
            }
        }
    }

    /// Decodes a part of a response's content.
    ///
    /// - Parameter part: the part, for the error's message, such as `line 12`.
    package func decode<Value: Decodable>(
        _ type: Value.Type,
        from bytes: Data,
        part: String,
        of response: HTTPResponse
    ) throws -> Value {
        do {
            return try decoder.decode(type, from: bytes)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw failure(.undecodable, type, response, body: (bytes, true), underlying: error, part: part)
        }
    }

    // Decoding may be slow, so it runs off the caller's actor.
    @concurrent
    private func decode<Value: Decodable & Sendable>(
        _ type: Value.Type,
        from body: Data,
        of response: HTTPResponse
    ) async throws -> Value {
        do {
            return try decoder.decode(type, from: body)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw failure(.undecodable, type, response, body: (body, true), underlying: error)
        }
    }

    package func failure(
        _ code: HTTPErrorCode,
        _ type: Any.Type,
        _ response: HTTPResponse,
        body: (bytes: Data, isComplete: Bool),
        message: String? = nil,
        underlying: (any Error)? = nil,
        part: String? = nil,
        isJSON: Bool? = nil
    ) -> DecodingFailure {
        let message: String? =
            switch code {
            case .emptyBody: DecodingFailure.noContent(for: type)
            case .unacceptedStatus: DecodingFailure.message(for: response, from: response.url ?? url)
            default: message
            }
        return DecodingFailure(
            code,
            message,
            type: type,
            response: response,
            body: body,
            request: HTTPRequest.Summary(method: method, url: response.url ?? url),
            underlying: underlying,
            part: part,
            isJSON: isJSON ?? (decoder is JSONDecoder)
        )
    }
}
