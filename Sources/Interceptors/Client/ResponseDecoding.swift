internal import Foundation

/// What a response decodes to that has no content, or none that matters: nothing.
public struct NoContent: Codable, Sendable, Hashable {
    /// Nothing.
    public init() {}
    /// Nothing, whatever is there.
    public init(from decoder: any Decoder) {}
}

/// How the response to one request becomes a value.
struct ResponseDecoding: Sendable {
    let decoder: any BodyDecoder
    let method: HTTPRequest.Method
    let url: URL

    private static let streamLimit = ResponseBodyMode.buffered.bufferLimit ?? 64 << 20

    func value<Value: Decodable & Sendable>(_ type: Value.Type, of response: HTTPResponse) async throws -> Value {
        do {
            return try await decoded(type, of: response)
        } catch let failure as DecodingFailure {
            for observe in response.context.decodingObservers { observe(failure) }
            throw failure
        }
    }

    private func decoded<Value: Decodable & Sendable>(
        _ type: Value.Type,
        of response: HTTPResponse
    ) async throws -> Value {
        guard response.status.kind == .successful || response.context.isStatusAccepted else {
            throw failure(.unsuccessfulStatus, type, response, body: try await beginning(of: response.body))
        }
        if let nothing = NoContent() as? Value {
            response.body.discard()
            return nothing
        }
        let body = try await collect(response)
        // Text is what was sent, not a string of JSON.
        if type == String.self || type == String?.self && !body.isEmpty {
            let text = HTTPResponse.text(body, contentType: response.headerFields[.contentType])
            if let value = text as? Value { return value }
        }
        if body.isEmpty, type != Data.self {
            guard let optional = type as? any ExpressibleByNilLiteral.Type,
                let none = optional.init(nilLiteral: ()) as? Value
            else { throw failure(.empty, type, response, body: body) }
            return none
        }
        if let bytes = body as? Value { return bytes }
        return try await decode(type, from: body, of: response)
    }

    // Of an error page that is streamed no more than its excerpt is waited for.
    private func beginning(of body: HTTPBody) async throws -> Data {
        if let bytes = body.bytes { return bytes }
        defer { body.discard() }
        var beginning = Data()
        do {
            for try await chunk in body {
                beginning.append(chunk)
                if beginning.count > DecodingFailure.excerptLimit { break }
            }
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            // The status is the news; that its page broke off is not.
        }
        return beginning
    }

    private func collect(_ response: HTTPResponse) async throws -> Data {
        if let bytes = response.body.bytes { return bytes }
        do {
            return try await response.body.collect(upTo: Self.streamLimit)
        } catch let error as TransportError where error.url == nil {
            let request = HTTPRequest(method: method, url: response.url ?? url)
            throw TransportError(error.code, error.message, request: request, underlying: error.underlying)
        }
    }

    // Decoding may take its time: not on the caller's actor.
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
            throw failure(.undecodable, type, response, body: body, underlying: error)
        }
    }

    private func failure(
        _ code: DecodingFailure.Code,
        _ type: Any.Type,
        _ response: HTTPResponse,
        body: Data,
        underlying: (any Error)? = nil
    ) -> DecodingFailure {
        DecodingFailure(
            code,
            type: type,
            response: response,
            body: body,
            request: HTTPRequest(method: method, url: response.url ?? url),
            underlying: underlying,
            isJSON: decoder is JSONDecoder
        )
    }
}
