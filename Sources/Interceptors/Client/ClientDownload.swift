public import Foundation

extension Client {
    /// Sends a GET request and writes the response's content to a file as it arrives, with little memory.
    ///
    /// ```swift
    /// try await api.download("/users/42/photo", to: file) { progress in
    ///     print(progress.completed, progress.total ?? 0)
    /// }
    /// ```
    /// The bytes are written under a hidden name in the same folder. The finished file is renamed, and replaces an earlier one with its
    /// permissions. A symbolic link is replaced, not followed.
    ///
    /// A function of the same name in `InterceptorsTransfers` continues an interrupted download, and checks digests.
    ///
    /// - Parameters:
    ///   - path: a path below the base URL, or an absolute URL.
    ///   - file: the destination. Its folder must exist.
    ///   - limit: the maximum number of bytes. By default the file system is the only limit.
    ///   - query: appended to any query in the path.
    ///   - headers: take precedence over the chain's defaults.
    ///   - context: values that accompany the request. Its `HTTPContext.responseBody` is replaced.
    ///   - progress: called as content arrives, from any thread. A redirect's or an error's page counts, and then the progress begins
    ///     again. It replaces the context's.
    /// - Returns: the response, whose body has been read.
    /// - Throws: ``StatusError`` if the status isn't a success, with the response; otherwise as `HTTPBody.write(to:upTo:)`.
    @discardableResult
    public func download(
        _ path: RequestTarget,
        to file: URL,
        upTo limit: Int64 = .max,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> HTTPResponse {
        var context = context
        context.responseBody = .streamed
        if let progress { context.downloadProgress = progress }
        let call = EndpointRequest<Data>.get(path, query: query, headers: headers, context: context)
        let request = try await makeRequest(call)
        // Before anything is sent.
        _ = try HTTPBody.permissions(ofFileToReplace: file)
        let response = try await send(request)
        try await StatusError.check(response, to: request)
        try await response.body.write(to: file, upTo: limit)
        return response
    }
}
