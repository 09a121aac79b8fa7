public import Foundation
public import Interceptors

extension Client {
    /// Downloads a file, and continues where a connection broke.
    ///
    /// ```swift
    /// try await api.download("/films/42.mp4", to: file, resuming: .acrossLaunches) { progress in
    ///     print(progress.completed, progress.total ?? 0)
    /// }
    /// ```
    /// The bytes are written under a hidden name in the same folder. The finished file is renamed when it is complete and right,
    /// and replaces an earlier one with its permissions. A symbolic link is replaced, not followed.
    ///
    /// - Parameters:
    ///   - path: a path below the base URL, or an absolute URL. `RequestTarget(url)` makes one of a `URL`.
    ///   - file: the destination. Its folder must exist.
    ///   - resuming: whether the next call continues an interrupted download, too; ``DownloadResuming/withinCall`` by default. Each
    ///     attempt runs the whole chain and passes caches. The first asks for content without codings.
    ///   - sha256: the SHA-256 that the whole file must have, as 64 hexadecimal digits. With any other text the call fails before
    ///     anything is sent.
    ///   - limit: the maximum number of bytes. By default the file system is the only limit.
    ///   - query: appended to any query in the path.
    ///   - headers: take precedence over the chain's defaults. `Accept-Encoding` is ignored. `Range` and `If-Range` are refused.
    ///   - context: values that accompany each request. Its `HTTPContext.responseBody` is replaced.
    ///   - progress: called as the content arrives, from any thread. It replaces the context's. A resumed download counts the
    ///     bytes of earlier attempts, and may start over.
    /// - Returns: the last response, whose body has been read. After a resumed download its status is 206.
    /// - Throws: ``TransferError``; `StatusError` with the response if the status isn't a success; a `TransportError` with
    ///   `HTTPErrorCode.unsupported` without a needed digest or lock; otherwise as `HTTPBody.write(to:upTo:)`.
    @discardableResult
    public func download(
        _ path: RequestTarget,
        to file: URL,
        resuming: DownloadResuming = .withinCall,
        sha256: String? = nil,
        upTo limit: Int64 = .max,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> HTTPResponse {
        var context = context
        context.responseBody = .streamed
        if let progress { context.downloadProgress = progress }
        let request = EndpointRequest<Data>.get(path, query: query, headers: headers, context: context)
        let run = DownloadRun(
            client: self,
            request: try await makeRequest(request),
            file: file,
            resuming: resuming,
            sha256: sha256,
            limit: limit,
            progress: context.downloadProgress
        )
        return try await run.run()
    }
}
