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
}
