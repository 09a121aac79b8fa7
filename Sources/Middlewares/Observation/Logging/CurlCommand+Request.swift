extension HTTPRequest {
    /// A curl command that sends this request, to paste into a shell (bash, zsh or ksh), with secrets redacted.
    ///
    /// ```swift
    /// print(request.curlCommand())
    /// // curl -X POST -H 'Authorization: <redacted>' --data-raw '{"title":"x"}' 'https://api.example.com/orders'
    /// ```
    /// The command describes the request as it is here: interceptors further inside may add fields. To see what is sent, use
    /// `.logging(curl: true)` innermost.
    ///
    /// A body that is a stream, too long, or not shown by the redaction (see `Redaction.excerpt(of:type:limit:)`) is read from standard
    /// input (`@-`), and a file from its path. A request that no transport would send has no command: the text says so in angle
    /// brackets.
    ///
    /// - Parameters:
    ///   - redaction: decides which values are secrets. `nil` shows all secrets, so any reader of the text can act as the user.
    ///   - bodyLimit: the maximum size of a body, in bytes, to include. 16 KiB by default.
    public func curlCommand(redaction: Redaction? = .standard, bodyLimit: Int = 16 << 10) -> String {
        let body = LoggedBody(limit: bodyLimit, isPretty: false, redaction: redaction)
        return CurlCommand(body: body, redaction: redaction).line(for: self)
    }
}
