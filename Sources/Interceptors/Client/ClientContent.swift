package import Foundation

extension Client {
    /// Sends a GET request, and makes a value of the whole content of its response by a closure.
    ///
    /// - Parameters:
    ///   - url: the absolute URL.
    ///   - type: the type that an error names.
    ///   - limit: the longest content in bytes.
    ///   - headers: take precedence over the chain's defaults.
    ///   - context: values that accompany the request. Its `HTTPContext.responseBody` is replaced.
    ///   - decode: makes the value. Its errors become the ``ResponseDecodingError/underlying`` error of a failure.
    /// - Returns: the value with its response, whose body is used up if it was streamed.
    /// - Throws: ``ResponseDecodingError``; `TransportError` with `HTTPErrorCode.bodyTooLarge`; errors of the chain.
    package func content<Value: Sendable>(
        at url: URL,
        as type: Value.Type,
        upTo limit: Int,
        headers: HTTPFields,
        context: HTTPContext,
        by decode: (Data) async throws -> Value
    ) async throws -> (value: Value, response: HTTPResponse) {
        var request = HTTPRequest(method: .get, url: url, headers: headers, context: context)
        request.context.responseBody = .buffered(upTo: limit)
        let decoding = ResponseDecoding(decoder: decoder, request)
        let response = try await send(request)
        return (try await decoding.value(type, of: response, upTo: limit, by: decode), response)
    }
}
