internal import Interceptors

/// An error that an interceptor has made of a response, with the response in it.
protocol ResponseError: Error {
    var response: HTTPResponse { get }
}

extension Result where Success == HTTPResponse {
    /// The response that an answer is, or is made of.
    var answered: HTTPResponse? {
        switch self {
        case .success(let response): response
        case .failure(let error): (error as? any ResponseError)?.response
        }
    }

    /// Whether an answer came of a redirect that changed the method, so that the request itself was acted on.
    var hasChangedMethod: Bool {
        switch self {
        case .success(let response): response.context.hasChangedMethod
        case .failure(let error): (error as? any ContextualError)?.context.hasChangedMethod ?? false
        }
    }
}
