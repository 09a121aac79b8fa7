internal import Foundation
internal import Interceptors
internal import InterceptorsSyntax

extension Client {
    /// Sends content, and goes on where a connection broke.
    ///
    /// ```swift
    /// let film = try HTTPBody(file: file)
    /// try await api.upload(.stream(film, type: "video/mp4"), to: "/films", resuming: .draft) { progress in
    ///     print(progress.completed, progress.total ?? 0)
    /// }
    /// ```
    /// Each request of the upload runs the whole chain, so that it gets a fresh token, and counts for a breaker or a limit. Without
    /// trouble, an upload with ``UploadResuming/draft`` is one request. If the call is cancelled, the server keeps the upload:
    /// ``cancelUpload(_:headers:context:)`` removes it.
    ///
    /// - Parameters:
    ///   - content: the content with its media type. To resume, its body must be seekable: bytes, a file, or `HTTPBody.seekable`.
    ///   - path: a path below the base URL, or an absolute URL.
    ///   - method: the method of the first request, POST by default. The others are HEAD and PATCH. With tus it must be POST.
    ///   - resuming: the protocol by which an interrupted upload continues. `post(_:content:)` sends content in one request.
    ///   - query: appended to any query in the path.
    ///   - headers: take precedence over the chain's defaults. They go with each request of the upload, except fields about content
    ///     and conditions. An upload's URL at another origin gets no credentials: no field with a name that `Redaction.standard`, the
    ///     journal or an element of the chain takes for secret.
    ///   - context: values that accompany each request.
    ///   - progress: called as the content is sent, from any thread. It replaces the context's. It counts the bytes of all requests,
    ///     never goes back, and ends with the total.
    /// - Returns: the server's response to the whole content. If that response was lost and the server doesn't repeat it, the response
    ///   that says that the content is complete.
    /// - Throws: `StatusError` if the status isn't a success; ``TransferError``; a `TransportError` with
    ///   `HTTPErrorCode.bodyNotReplayable` if the body isn't seekable; otherwise the last error, if there were too many attempts
    ///   without new bytes.
    @discardableResult
    public func upload(
        _ content: RequestBody,
        to path: RequestTarget,
        method: HTTPRequest.Method = .post,
        resuming: UploadResuming,
        query: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> HTTPResponse {
        var context = context
        if let progress { context.uploadProgress = progress }
        let request = try await makeRequest(
            EndpointRequest<Data>(method, path, query: query, headers: headers, body: content, context: context)
        )
        // Before the digest, which is that of this version.
        let file = await request.body.fileVersion()
        let (length, version) = try await check(request, resuming)
        let run = UploadRun(
            client: self,
            request: request,
            resuming: resuming,
            length: length,
            version: version,
            file: file,
            progress: context.uploadProgress.map { UploadProgress(total: length, $0) }
        )
        return try await run.run()
    }

    /// Removes an upload from the server, if it is still there.
    ///
    /// - Parameters:
    ///   - upload: the upload, as ``UploadResuming/acrossLaunches(from:version:save:)`` saved it.
    ///   - headers: take precedence over the chain's defaults. If the server has put the upload at another origin than that of the
    ///     call that made it, credentials among them aren't sent.
    ///   - context: values that accompany the request.
    /// - Throws: `StatusError` if the status is neither a success nor 404 or 410; otherwise the chain's error.
    public func cancelUpload(
        _ upload: UnfinishedUpload,
        headers: HTTPFields = HTTPFields(),
        context: HTTPContext = HTTPContext()
    ) async throws {
        var request = HTTPRequest(method: .delete, url: upload.url, headers: headers, context: context)
        request.continueUpload(upload.kind, from: Origin(upload.target.url), to: upload.url, redactions)
        do {
            let response = try await send(request)
            defer { response.body.discard() }
            if [404, 410].contains(response.status.code) { return }
            try await StatusError.check(response, to: request)
        } catch let error as any HTTPError where [404, 410].contains(error.receivedResponse?.status.code) {
            return
        }
    }

    /// Makes all checks that are possible before anything is sent. Returns the length of the content, and its version if a launch may continue.
    private func check(
        _ request: HTTPRequest,
        _ resuming: UploadResuming
    ) async throws -> (length: Int64, version: String?) {
        guard request.body.isSeekable, let length = request.body.length else {
            throw TransportError.notSeekable(request)
        }
        // Each of several requests would have them.
        if resuming.kind == .tus, request.method != .post {
            let message = "tus makes an upload by POST, not by \(request.method)."
            throw TransportError(.invalidRequest, message, request: request)
        }
        if let name = resuming.metadata.keys.first(where: { !UploadProtocol.isMetadataName($0) }) {
            let message =
                "The metadata name \(PrintableText.line(name)) isn't of printable ASCII without spaces and commas."
            throw TransportError(.invalidRequest, message, request: request)
        }
        guard let launches = resuming.launches else { return (length, nil) }
        // Before the digest, which reads the whole content.
        if let unfinished = launches.unfinished, unfinished.target != UnfinishedUpload.Target(request) {
            let message =
                "The unfinished upload is for another URL or method. Continue it by the same call, or leave out `from:`."
            throw TransferError(.uploadTargetChanged, message, request: request)
        }
        let version = if let version = launches.version { version } else { try await request.body.digest() }
        if let unfinished = launches.unfinished,
            unfinished.kind != resuming.kind || unfinished.length != length || unfinished.version != version
        {
            let message = "The content or the protocol isn't that of the unfinished upload. Cancel it, and begin again."
            throw TransferError(.uploadContentChanged, message, request: request, sentNothing: true)
        }
        return (length, version)
    }
}

extension HTTPBody {
    /// The SHA-256 of the content, in hexadecimal.
    @concurrent
    fileprivate func digest() async throws -> String {
        do {
            var digest = try MessageDigest(.sha256)
            for try await chunk in self { try digest.update(chunk) }
            return try digest.finish().hexadecimal
        } catch let error as DigestUnavailable {
            let message = "The content's digest can't be computed: pass `version:`."
            throw TransportError(.unsupported, message, underlying: error)
        }
    }
}
