internal import Interceptors

/// An error that an interceptor made from a response, and that holds the response.
protocol ResponseError: Error {
    var response: HTTPResponse { get }
    /// Whether the response's status says all that the error says.
    var isToldByStatus: Bool { get }
}

extension ResponseError {
    var isToldByStatus: Bool { false }
}

extension Result where Success == HTTPResponse {
    /// The response: on success the value, on failure the response that the error was made from, if any.
    var answered: HTTPResponse? {
        switch self {
        case .success(let response): response
        case .failure(let error): (error as? any ResponseError)?.response
        }
    }

    /// Whether a redirect changed the method on the way to this outcome. The server then acted on the original request.
    var hasChangedMethod: Bool {
        switch self {
        case .success(let response): response.context.hasChangedMethod
        case .failure(let error): (error as? any ContextualError)?.context.hasChangedMethod ?? false
        }
    }
}
