public import Foundation
public import InterceptorsTransport

extension HTTPError {
    /// Decodes the body of the error's `response`, such as the API's own description of the problem.
    ///
    /// ```swift
    /// do {
    ///     try await api.delete("/users/42")
    /// } catch let error as StatusError where error.status == 409 {
    ///     let problem = try error.decode(Problem.self)
    ///     show(problem.title)
    /// }
    /// ```
    /// An error without a response throws itself. So one `catch` serves all errors: those of the API are decoded, and a failed
    /// connection passes.
    ///
    /// - Parameters:
    ///   - type: the type of the value.
    ///   - decoder: decodes the body, whatever its `Content-Type`; by default as JSON.
    /// - Throws: ``ResponseDecodingError`` with ``HTTPErrorCode/undecodable`` if the body doesn't match the type, with
    ///   ``HTTPErrorCode/emptyBody`` if it is empty, or with ``HTTPErrorCode/incompleteBody`` if the error kept only its beginning;
    ///   this error if it has no response.
    public func decode<Value: Decodable>(
        _ type: Value.Type = Value.self,
        with decoder: any BodyDecoder = JSONDecoder()
    ) throws -> Value {
        guard let response = receivedResponse else { throw self }
        let bytes = response.body.data
        let body = (data: bytes ?? Data(), isComplete: bytes != nil && response.isBodyComplete)
        guard body.isComplete else {
            let reason =
                bytes == nil
                ? "because the body isn't in memory. Keep it in memory in the error's response."
                : "because the error kept only the first \(body.data.count) bytes. A higher limit keeps more, as in"
                    + " validateStatus(bodyLimit:)."
            let message = "\(type) can't be decoded, \(reason)"
            throw ResponseDecodingError(.incompleteBody, message, response: response, body: body, request: request)
        }
        guard !body.data.isEmpty else {
            let message = "The response has no content to decode \(type) from."
            throw ResponseDecodingError(.emptyBody, message, response: response, body: body, request: request)
        }
        do {
            return try decoder.decode(type, from: body.data)
        } catch {
            throw ResponseDecodingError.undecodable(type, from: body.data, of: response, request, error, by: decoder)
        }
    }
}
