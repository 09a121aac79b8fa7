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
    private let decoder: any BodyDecoder
    private let method: HTTPRequest.Method
    private let url: URL

    package init(decoder: any BodyDecoder, _ request: borrowing HTTPRequest) {
        (self.decoder, method, url) = (decoder, request.method, request.url)
    }

    package func value<Value: Decodable & Sendable>(_ type: Value.Type, of response: HTTPResponse) async throws -> Value
    {
        try await observed(response) {
            try await requireSuccess(response)
            if let nothing = NoContent() as? Value {
                response.body.discard()
                return nothing
            }
            let body = try await collect(response)
            // A `String` is the text as sent, not a decoded JSON string.
            if type == String.self || type == String?.self && !body.isEmpty {
                let text = HTTPResponse.text(body, contentType: response.headers[.contentType])
                if let value = text as? Value { return value }
            }
            if body.isEmpty, type != Data.self {
                guard let optional = type as? any ExpressibleByNilLiteral.Type,
                    let none = optional.init(nilLiteral: ()) as? Value
                else { throw noContent(type, response) }
                return none
            }
            if let bytes = body as? Value { return bytes }
            return try await decodeApart(type, from: body, of: response)
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
            try await requireSuccess(response)
            let body = try await collect(response, upTo: limit)
            guard !body.isEmpty else { throw noContent(type, response) }
            do {
                return try await decode(body)
            } catch {
                let request = summary(of: response)
                throw ResponseDecodingError.undecodable(type, from: body, of: response, request, error, by: nil)
            }
        }
    }

    /// Throws if the status is no success, as ``value(_:of:)`` does. The content is left as it is otherwise.
    ///
    /// - Parameter refused: successes whose content isn't what was asked for.
    package func checkStatus(of response: HTTPResponse, except refused: Set<HTTPResponse.Status> = []) async throws {
        try await observed(response) { try await requireSuccess(response, except: refused) }
    }

    /// Discards the content and throws if the content isn't of a media type.
    package func checkMediaType(of response: HTTPResponse, _ mediaType: String) async throws {
        guard response.headers.mediaType != mediaType else { return }
        response.body.discard()
        let found =
            response.headers[.contentType].map { "has the type \(PrintableText.line(String($0.prefix(100))))" }
            ?? "has no Content-Type"
        let message = "The response \(found), not \(mediaType)."
        try await observed(response) { throw failure(.unexpectedMediaType, message, response) }
    }

    /// Decodes a response's content or, named by `part`, a part of the content, such as `line 12`.
    package func decode<Value: Decodable>(
        _ type: Value.Type,
        from body: Data,
        part: String? = nil,
        of response: HTTPResponse
    ) throws -> Value {
        do {
            return try decoder.decode(type, from: body)
        } catch {
            throw ResponseDecodingError.undecodable(
                type,
                part: part,
                from: body,
                of: response,
                summary(of: response),
                error,
                by: decoder
            )
        }
    }

    // Decoding may be slow, so it runs off the caller's actor.
    @concurrent
    private func decodeApart<Value: Decodable & Sendable>(
        _ type: Value.Type,
        from body: Data,
        of response: HTTPResponse
    ) async throws -> Value {
        try decode(type, from: body, of: response)
    }

    package func observed<Result>(_ response: HTTPResponse, _ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let failure as ResponseDecodingError {
            for observe in response.context.decodingObservers { observe(failure) }
            throw failure
        }
    }

    private func requireSuccess(_ response: HTTPResponse, except refused: Set<HTTPResponse.Status> = []) async throws {
        let isSuccess = response.status.kind == .successful && !refused.contains(response.status)
        guard !isSuccess, response.context.validatesStatus else { return }
        let body = try await response.beginning(upTo: ResponseDecodingError.bodyLimit)
        let message = ResponseDecodingError.message(for: response, from: response.url ?? url)
        throw failure(.unacceptedStatus, message, response, body: body)
    }

    private func collect(_ response: HTTPResponse, upTo limit: Int? = nil) async throws -> Data {
        if let bytes = response.body.data, bytes.count <= limit ?? .max { return bytes }
        do {
            return try await response.body.collect(upTo: limit ?? ResponseBodyMode.buffered.bufferLimit ?? 64 << 20)
        } catch let error as TransportError where error.request == nil {
            throw error.withRequest(HTTPRequest(method: method, url: response.url ?? url))
        }
    }

    private func noContent(_ type: Any.Type, _ response: HTTPResponse) -> ResponseDecodingError {
        let message = "The response has no content to decode \(type) from. Ask for an optional if there may be none."
        return failure(.emptyBody, message, response, body: (Data(), true))
    }

    package func failure(
        _ code: HTTPErrorCode,
        _ message: String,
        _ response: HTTPResponse,
        body: (data: Data, isComplete: Bool) = (Data(), false)
    ) -> ResponseDecodingError {
        ResponseDecodingError(code, message, response: response, body: body, request: summary(of: response))
    }

    private func summary(of response: HTTPResponse) -> HTTPRequest.Summary {
        HTTPRequest.Summary(method: method, url: response.url ?? url)
    }
}
