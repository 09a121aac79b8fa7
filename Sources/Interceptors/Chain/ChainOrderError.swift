/// Thrown before sending, when the interceptors of a chain are in an order that can't work.
public struct ChainOrderError: HTTPError {
    /// The kind of mistake in the order.
    public let code: HTTPErrorCode
    /// A message for a person: the mistake, and the right order.
    public let message: String
    /// The method and the redacted URL of the request, if known.
    public let request: HTTPRequest.Summary?
    /// Details about the failed call, such as its attempts.
    public var context = HTTPContext()
    /// `nil`: no response caused the error.
    public var response: HTTPResponse? { nil }
    /// `nil`: no other error caused this one.
    public var underlying: (any Error)? { nil }

    /// Creates an error about the chain of a request.
    ///
    /// - Parameters:
    ///   - code: what is wrong with the order.
    ///   - message: sentences for a person that give the right order, without secrets.
    ///   - request: the request. The error keeps its method and its redacted URL.
    public init(_ code: HTTPErrorCode, _ message: String, request: HTTPRequest? = nil) {
        self.code = code
        self.message = message
        self.request = request?.summary
    }
}

extension HTTPErrorCode {
    /// `ChainOrderError`: an element that answers several requests with one response can't tell users apart: see
    /// ``InterceptorsTransport/HTTPRequest/identifyCaller(by:as:)``.
    public static let sharedResponse = Self(rawValue: "sharedResponse")
}

extension ChainOrderError {
    static func sharedResponse(
        of request: HTTPRequest,
        _ sharing: ResponseSharing,
        with element: String,
        changesEachTime: Bool
    ) -> Self {
        let order = ([element] + sharing.elements).map { ".\($0)(…)" }.joined(separator: ", ")
        let name = sharing.element
        return sharedResponse(
            of: request,
            "\(name) is outside of \(element)",
            changesEachTime ? nil : "Put \(name) after \(element): [\(order)]."
        )
    }

    static func sharedResponse(
        of request: HTTPRequest,
        _ sharing: ResponseSharing,
        withCredential credential: String
    ) -> Self {
        let element = sharing.element
        return sharedResponse(
            of: request,
            "\(element) is outside of the interceptor that sets \(credential)",
            "Put that interceptor before \(element) in the array, or call declareAnonymous() in it if the value is the"
                + " same for all users."
        )
    }

    private static func sharedResponse(of request: HTTPRequest, _ fault: String, _ order: String?) -> Self {
        let partition = "request.context.cachePartition = account.id says whose response it is."
        return Self(
            .sharedResponse,
            "\(fault) and can't see who asks: one user could get the response of another."
                + (order.map { " \($0) Or name the account: \(partition)" } ?? " Name the account: \(partition)")
                + " The request was not sent.",
            request: request
        )
    }
}

extension ChainOrderError {
    /// `true`: the order is checked before the request is sent.
    public var sentNothing: Bool { true }
}
