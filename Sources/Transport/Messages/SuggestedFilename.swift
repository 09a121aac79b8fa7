internal import InterceptorsSyntax

extension HTTPResponse {
    /// The file name that the server suggests in `Content-Disposition` (RFC 6266), without a path; `nil` if it suggests none that a
    /// file can have.
    ///
    /// ```swift
    /// let response = try await api.download("/reports/42", to: file)
    /// let name = response.suggestedFilename ?? "report.pdf"
    /// ```
    /// A path before the name, leading dots, control characters and characters that reverse the direction of text are left out. The
    /// name may be that of an existing file.
    public var suggestedFilename: String? {
        headers[values: .contentDisposition].first.flatMap(ContentDisposition.filename)
    }
}
