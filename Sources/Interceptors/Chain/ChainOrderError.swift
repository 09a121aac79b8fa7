/// Thrown before sending, when the interceptors of a chain are in an order that can't work.
public struct ChainOrderError: HTTPError {
    /// The kind of mistake in the order. An open set: handle the codes you know, and keep a default.
    public struct Code: OpenSet {
        /// The name of the code, such as `sharedResponse`.
        public let rawValue: String
        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// An element that answers several requests with one response can't tell users apart: see ``ResponseSharing``.
        public static let sharedResponse = Self(rawValue: "sharedResponse")
    }

    /// The kind of mistake in the order.
    public let code: Code
    /// A message for a person: the mistake, and the right order.
    public let message: String
    /// The method and the redacted URL of the request, if known.
    public let request: HTTPRequest.Summary?
    /// Details about the failed call, such as its attempts.
    public var context = HTTPContext()

    /// Creates an error about the chain of a request.
    ///
    /// - Parameters:
    ///   - code: what is wrong with the order.
    ///   - message: sentences for a person that give the right order, without secrets.
    ///   - request: the request. The error keeps its method and its redacted URL.
    public init(_ code: Code, _ message: String, request: HTTPRequest? = nil) {
        self.code = code
        self.message = message
        self.request = request?.summary
    }
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
    /// The name of the code, such as `ChainOrderError.sharedResponse`.
    public var codeName: String { "ChainOrderError.\(code)" }

    /// `true`: the order is checked before the request is sent.
    public var sentNothing: Bool { true }
}
