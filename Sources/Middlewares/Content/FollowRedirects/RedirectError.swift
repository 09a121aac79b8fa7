/// The error of a redirect that was not followed.
///
/// The descriptions show the redirects with secrets redacted.
public struct RedirectError: HTTPError {
    /// The kind of failure.
    public let code: HTTPErrorCode
    /// A message for people: the cause and the remedy, without secrets.
    public let message: String
    /// The redirects of the call in order, including the one that was not followed if its target is known.
    public let redirects: [Redirect]
    /// The status of the redirect that was not followed.
    public let status: HTTPResponse.Status
    /// The method and the redacted URL of the last request.
    public let request: HTTPRequest.Summary?
    /// Further facts about the failed call, such as its attempts.
    public var context = HTTPContext()
    /// `nil`: no response caused the error.
    public var response: HTTPResponse? { nil }
    /// `nil`: no other error caused this one.
    public var underlying: (any Error)? { nil }

    init(_ code: HTTPErrorCode, limit: Int, redirects: [Redirect], status: HTTPResponse.Status, request: HTTPRequest) {
        self.code = code
        self.redirects = redirects
        self.status = status
        self.request = request.summary
        message =
            switch code {
            case .tooManyRedirects:
                "The server redirected more than \(limit) times, probably in a loop. followRedirects(limit:) allows more."
            case .invalidLocation:
                "The redirect's Location is not a URL, or there are several different ones. Ask the server's operator."
            case .insecureRedirect:
                "The redirect leads from https to http: followRedirects(allowsDowngrade: true) allows it."
            default: "The redirect leads to a scheme other than http and https. A policy can return nil for it."
            }
    }
}

extension HTTPErrorCode {
    /// `RedirectError`: the call was redirected more often than the limit allows, probably in a loop.
    public static let tooManyRedirects = Self(rawValue: "tooManyRedirects")
    /// `RedirectError`: the `Location` isn't a valid URL, or there are several different ones.
    public static let invalidLocation = Self(rawValue: "invalidLocation")
    /// `RedirectError`: the redirect leads to a scheme other than http and https.
    public static let unsupportedScheme = Self(rawValue: "unsupportedScheme")
    /// `RedirectError`, `TransferError`: the redirect leads from https to http. In the background, the received file was
    /// dropped.
    public static let insecureRedirect = Self(rawValue: "insecureRedirect")
}

extension RedirectError {
    /// The code, message, request and redirects on one line, without secrets. If there are many redirects, the middle ones are
    /// left out.
    public var description: String {
        let text = line(nil, "\(status.code)")
        // If the context has redirects, the line lists them already.
        let isComplete = redirects.isEmpty || !context.redirects.isEmpty
        return isComplete ? text : "\(text) Redirects: \(Redirect.path(redirects))."
    }

    /// A short English sentence for people.
    public var errorDescription: String? {
        code == .tooManyRedirects
            ? "The server redirected the request too often."
            : "The server redirected the request to an address that can't be used."
    }
}
