internal import Interceptors

/// An error of a request that was refused because its server is considered unreachable.
protocol ServerOutOfReach: HTTPError {}

extension Result where Success == HTTPResponse {
    /// The response: on success the value, on failure the response that the error was made from, if any.
    var answered: HTTPResponse? {
        switch self {
        case .success(let response): response
        case .failure(let error): (error as? any HTTPError)?.response
        }
    }

    /// Whether a redirect changed the method on the way to this outcome. The server then acted on the original request.
    var hasChangedMethod: Bool {
        switch self {
        case .success(let response): response.context.hasChangedMethod
        case .failure(let error): (error as? any HTTPError)?.context.hasChangedMethod ?? false
        }
    }
}
