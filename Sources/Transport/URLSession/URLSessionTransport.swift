#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// Sends requests with Foundation's `URLSession`, on Apple's platforms and on Linux.
///
/// ```swift
/// let transport = URLSessionTransport(timeouts: Timeouts(connect: .seconds(5), total: .seconds(30)))
/// let response = try await transport.send(HTTPRequest(url: url))
/// ```
///
/// A transport is one session with its connections: make one and share it. The transport follows no redirects, retries
/// nothing, and stores no responses, cookies or credentials. When nothing refers to it any more, calls in flight and streamed
/// responses still run to their end.
///
/// ## Other settings of the session
/// The `configure` closure sets options that this transport has no parameter for. For example, on Apple's platforms:
/// ```swift
/// let transport = URLSessionTransport(timeouts: Timeouts(total: .seconds(300))) { configuration in
///     configuration.waitsForConnectivity = true
///     configuration.allowsConstrainedNetworkAccess = false
///     configuration.httpMaximumConnectionsPerHost = 2
/// }
/// ```
/// The closure can't change the promises made here: the transport then sets cache, cookies, credentials, the system's time
/// limits and TLS. A wait for connectivity counts like any other wait: `connect` and `idle` end it. Don't put fields into
/// `httpAdditionalHeaders`. Add them in the chain, where they are redacted and can be limited to an origin.
///
/// ## Loaders
/// Since iOS 18.4 and macOS 15.4, Foundation has two HTTP loaders. The transport leaves the choice to the system, which uses the
/// classic one by default, and may not do so in later versions. `configuration.usesClassicLoadingMode` in the closure decides.
/// The conformance tests of this package run over both on a Mac.
///
/// ## Other settings of a request
/// The `prepare` closure changes each `URLRequest` just before its task is created, for options that `HTTPRequest` doesn't
/// have. For example, on Apple's platforms:
/// ```swift
/// let transport = URLSessionTransport(prepare: { urlRequest, request in
///     urlRequest.assumesHTTP3Capable = true
///     urlRequest.attribution = .user
///     if request.url.path.hasPrefix("/prefetch/") {
///         urlRequest.networkServiceType = .background
///         urlRequest.allowsConstrainedNetworkAccess = false
///     }
/// })
/// ```
/// The closure can't change the URL, the method, the fields, the body, the time limit or the handling of cookies, because the
/// chain and this transport have checked them, and credentials belong to one origin. After such a change, the call fails with
/// `HTTPErrorCode.unsupported`, and nothing is sent. Change these parts in an interceptor, and time limits with
/// `Timeouts`. A cache policy stores nothing, because the session has no cache.
///
/// ## Time limits
/// The `Timeouts` of the request's context apply, otherwise the transport's. They are measured by the clock of the
/// transport's `time`, so limits of any length work.
/// - `connect` limits the time to the first sign of a connection: the first byte of the body sent, or the head of the
///   response received. URLSession doesn't report when the connection is established. For a spooled stream (see below), the
///   time starts when spooling ends.
/// - `idle` limits a silence on the wire, as far as URLSession reports it. It is suspended while received bytes wait for
///   their reader.
/// - `connect` and `idle` restart when the process resumes after a suspension (an app in the background, a machine asleep),
///   because nobody listens to the network meanwhile.
/// - `total` continues during a suspension, because a person or a program is waiting. A `SuspendingClock` excludes the time a
///   machine is asleep, but not the time an app is in the background. Suspensions aren't detected with a clock that isn't the
///   system's.
///
/// ## Request
/// The transport refuses some requests before it sends anything, with `HTTPErrorCode.unsupported`: a `GET` or `HEAD`
/// with a body, `CONNECT`, a user name or password in the URL, a method whose case URLSession would change (`get`), and
/// several `Set-Cookie` fields. If a file's length has changed since its body was made, the call fails with
/// `HTTPErrorCode.bodyLengthMismatch`. On Linux, a file that shrinks while it is sent fails the same way when a time
/// limit passes.
///
/// URLSession sends some things differently than written:
/// - Fields of one name become one field. Their values are joined by `", "` (`Cookie`: `"; "`), which has the same meaning
///   (RFC 9110 §5.3). Foundation determines the order of the fields and, on Linux, the case of their names.
/// - A body without `Content-Type` gets `application/octet-stream`; Foundation would declare it a form.
/// - Foundation sets `Content-Length`. On Linux, methods other than GET and HEAD send `Content-Length: 0` without a body.
/// - If the request lacks them, Foundation adds `Accept`, `Accept-Encoding`, `Accept-Language`, `Connection` and `User-Agent`
///   (with the program's name). On Linux, and with a `Range`, `Accept-Encoding` is `identity`.
/// - On Apple's platforms, the system may override reserved fields such as `Connection`, `Host` and `Proxy-Authorization`.
/// - A value outside ASCII is sent as UTF-8 on Linux; on Apple's platforms, the system decides.
///
/// On Apple's platforms, a one-shot or restartable stream is sent while it is read. On Linux, an `InputStream` that waits
/// would block every session of the process, so the stream is first written to a temporary file. Writing uses constant
/// memory, only this user can read the file, and the file is removed when the call ends. Upload progress starts when the
/// stream has ended.
///
/// On Apple's platforms, upload tasks resume an interrupted upload by themselves. The content of an upload whose caller resumes it
/// (a field `Upload-Draft-Interop-Version` or `Tus-Resumable`) is therefore sent by a data task.
///
/// ## Response
/// - The caller gets a redirect (3xx) like any other response.
/// - Content codings (gzip, deflate, brotli) are decoded, and `Content-Encoding` and `Content-Length` are removed, even if
///   the request had an `Accept-Encoding`. Foundation doesn't report content that ends before its coding does, and such
///   content counts as complete. On Linux, the transport therefore asks for no coding. `CurlTransport` asks for several, and
///   checks that they are complete.
/// - If the content is shorter than announced, the call fails with `HTTPErrorCode.truncated`. If it is longer,
///   Foundation silently cuts it off, or the call fails with `HTTPErrorCode.invalidResponse`.
/// - Fields are sorted by name, because Foundation doesn't keep their order, and fields of one name are joined. `Set-Cookie`
///   is split again: a comma followed by a name and `=` begins another cookie. `Location` is split where a
///   comma and a blank precede another URL, so that a redirect with two targets isn't followed. The reason phrase is the registered one.
/// - Foundation doesn't report trailer fields, so `HTTPResponse.trailers` throws `HTTPErrorCode.trailersUnavailable`.
///   `HTTPContext.interim` is called on Apple's platforms, from the session's queue. On Linux, Foundation shows no interim response.
/// - On Apple's platforms, a slow reader of a streamed response makes the server wait, by `suspend()`. Apple's documentation
///   allows the system to restart a suspended task. The transport therefore ends the reading at a second head, with
///   `HTTPErrorCode.truncated`, and no content is delivered twice. `multipart/x-mixed-replace`, which has a head for
///   each part, ends the same way.
/// - On Linux, Foundation can't make the server wait. The transport holds up to `streamBuffer` unread bytes. If more arrive,
///   the reading fails with `HTTPErrorCode.readerTooSlow` after the held bytes. `CurlTransport` waits.
/// - On Apple's platforms, buffered responses have `HTTPContext.timings` and `HTTPContext.connection`. URLSession reports
///   both at the end of an exchange, which is too late for a streamed response. Cipher suites without authenticated encryption
///   are `nil`. On Linux, URLSession reports neither.
/// - A transfer ends when its streamed body is released or discarded, or when the task that reads it is cancelled.
/// - If the system may not use the network (cellular not allowed, Low Data Mode), the error's message gives the reason. So
///   does `networkUnavailableReason` of the `URLError` in `TransportError.underlying`.
///
/// ## Proxies
/// On Apple's platforms, proxies and their passwords are settings of the system, which answers a proxy's challenges.
/// `TLSConfiguration` verifies the certificate of a TLS proxy. A client identity is presented only to servers.
///
/// ## On Linux
/// Foundation on Linux (Swift 6.3) has these limits, which no caller can change:
/// - **Foundation ends the process** (by a trap) if a server closes the connection within the head of a response, sends
///   trailer fields after its content, or announces a `Content-Length` of nearly 2^63. It may also do so if the upload of a
///   file or a stream is cancelled or breaks off, because it goes on reading the file of an ended task. None of this package's
///   code runs before the trap: use `CurlTransport` for uploads, and for servers that you don't trust.
/// - All sessions of the process share one queue, which handles about 3,000 requests a second, regardless of concurrency.
///   While a response arrives as fast as it can be read, the queue does nothing else.
/// - A call that ends early, by cancellation or by a limit, ends at once for its caller. Its connection goes on receiving
///   until the queue gets to it, at worst until the end of the content. No thread of Swift's pool waits for the queue. To
///   leave long streams early, use `CurlTransport`.
/// - A 3xx without a `Location` that Foundation can parse loses its content. The content of other redirects is held in memory
///   whatever its size, doesn't count as activity for `idle`, and ends the call if it breaks off. Each chunk copies all
///   chunks before it, so redirects with many megabytes keep the queue busy for seconds.
/// - Foundation reports none of these faults: a tab in the name of a field, content of a redirect that can't be decoded, and bytes
///   that the server sends between two requests. `CurlTransport` reports them, or opens another connection.
/// - Foundation rejects these responses, and the call fails with `HTTPErrorCode.invalidResponse`: a field value or
///   reason phrase that isn't UTF-8, a status line without a space after the code, a field line longer than about 100 KB, a
///   head longer than 300 KB, or an unknown content coding.
/// - A server may close a kept-alive connection just as a request is sent. Foundation sends the request again, whatever its
///   method, if it has no body or if no byte of the body was sent. Otherwise Foundation would send the head without its body
///   and wait, so the transport ends the call with `HTTPErrorCode.connectionLost`.
/// - Only the system's TLS settings work. With any other `TLSConfiguration`, each call fails with
///   `HTTPErrorCode.unsupported` before anything is sent: use `CurlTransport`.
public final class URLSessionTransport: Transport {
    private let session: URLSession
    private let delegate: SessionDelegate
    package let tls: TLSConfiguration
    private let timeouts: Timeouts
    private let streamBuffer: Int
    private let time: TimeSource
    let configure: @Sendable (URLSessionConfiguration) -> Void
    let prepare: (@Sendable (inout URLRequest, HTTPRequest) -> Void)?
    // The directory for streams that are spooled before they are sent, on Linux.
    private let spoolDirectory: URL

    /// Creates a transport with a new session.
    ///
    /// - Parameters:
    ///   - tls: the certificates to trust, the pins, and the client identity; by default the system's settings.
    ///   - timeouts: the time limits for requests whose context sets none; by default a silence of 60 seconds.
    ///   - streamBuffer: the maximum number of unread bytes of a streamed response, 16 MiB by default. Beyond it, the server
    ///     has to wait on Apple's platforms, and the reading fails on Linux.
    ///   - time: its clock measures the time limits.
    ///   - configure: sets options of the session's configuration that this transport doesn't set. `BackgroundTransfers` calls it
    ///     for its own session too.
    ///   - prepare: sets options of each `URLRequest`, such as its `networkServiceType`. Called in the sending task, once for
    ///     each request that is sent, also to repeat a request after an update of signed pins.
    public convenience init(
        tls: TLSConfiguration = .system,
        timeouts: Timeouts = Timeouts(),
        streamBuffer: Int = 16 << 20,
        time: TimeSource = .system,
        configure: @escaping @Sendable (URLSessionConfiguration) -> Void = { _ in },
        prepare: (@Sendable (inout URLRequest, HTTPRequest) -> Void)? = nil
    ) {
        self.init(
            tls: tls,
            timeouts: timeouts,
            streamBuffer: streamBuffer,
            time: time,
            spoolDirectory: FileManager.default.temporaryDirectory,
            configure: configure,
            prepare: prepare
        )
    }

    init(
        tls: TLSConfiguration = .system,
        timeouts: Timeouts,
        streamBuffer: Int,
        time: TimeSource,
        spoolDirectory: URL,
        configure: @escaping @Sendable (URLSessionConfiguration) -> Void = { _ in },
        prepare: (@Sendable (inout URLRequest, HTTPRequest) -> Void)? = nil
    ) {
        self.tls = tls
        self.timeouts = timeouts
        self.streamBuffer = max(0, streamBuffer)
        self.time = time
        self.configure = configure
        self.prepare = prepare
        self.spoolDirectory = spoolDirectory
        delegate = SessionDelegate(tls)
        let configuration = SessionDelegate.configuration(.ephemeral, tls, configure)
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    // A session retains its delegate until it is invalidated.
    deinit { session.finishTasksAndInvalidate() }

    /// Sends a request and returns its final response, whatever the status.
    ///
    /// - Throws: `TransportError`, or `CancellationError` at once if the task is cancelled.
    public func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        let request = request
        try request.validate()
        try Task.checkCancellation()
        #if canImport(FoundationNetworking)
        try tls.checkLiterals(request)
        try tls.checkScheme(request)
        if let refusal = tls.refusalOfURLSessionOnLinux(request) { throw refusal }
        return try await exchange(request)
        #else
        try tls.check(request)
        guard tls.signedPins != nil else { return try await exchange(request) }
        let timeouts = request.context.timeouts ?? timeouts
        return try await tls.sendUpdatingPins(request, timeouts, time.stopwatch(), over: exchange)
        #endif
    }

    private func exchange(_ request: HTTPRequest) async throws -> HTTPResponse {
        let urlRequest = try urlRequest(for: request)
        try await checkEmptySource(of: request)
        let transfer = SessionTransfer(
            request: request,
            limits: .init(
                responseBody: request.context.responseBody,
                streamBuffer: streamBuffer,
                canSuspend: Self.canSuspend
            ),
            timeouts: request.context.timeouts ?? timeouts,
            clock: time.stopwatch()
        )
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { caller in
                transfer.begin(caller) { start(urlRequest, for: transfer) }
            }
        } onCancel: {
            transfer.cancel()
        }
    }

    private func checkEmptySource(of request: HTTPRequest) async throws {
        do {
            try await request.checkEmptySource(within: request.context.timeouts ?? timeouts, on: time.stopwatch())
        } catch let error as TransportError where error.request == nil {
            throw error.withRequest(request)
        }
    }

    private func launch(_ outgoing: URLRequest, for transfer: SessionTransfer) {
        let body = transfer.request.body
        if body.isEmpty {
            delegate.run(session.dataTask(with: outgoing), for: transfer)
        } else if launchByDataTask(outgoing, for: transfer) {
            return
        } else if let file = body.file {
            // For a symbolic link, Foundation on Linux would announce the length of the link.
            let target = file.resolvingSymlinksInPath()
            delegate.run(session.uploadTask(with: outgoing, fromFile: target), for: transfer)
        } else if let bytes = body.data {
            delegate.run(session.uploadTask(with: outgoing, from: bytes), for: transfer)
        } else {
            launchStream(outgoing, for: transfer)
        }
    }
}

#if canImport(FoundationNetworking)
extension URLSessionTransport {
    // To create a task, Foundation waits for its one queue, which may be busy for seconds.
    private func start(_ outgoing: URLRequest, for transfer: SessionTransfer) {
        SessionQueue.launching.async { self.launch(outgoing, for: transfer) }
    }

    // Upload tasks on Linux resume nothing.
    private func launchByDataTask(_ outgoing: URLRequest, for transfer: SessionTransfer) -> Bool { false }

    // `suspend()` and `resume()` restart the transfer on Linux.
    private static var canSuspend: Bool { false }

    private func launchStream(_ outgoing: URLRequest, for transfer: SessionTransfer) {
        let spooling = Task { [self] in
            do {
                let file = try await HTTPBody.whileSending {
                    try await SpooledFile.spool(transfer.request.body, in: spoolDirectory) { _ in transfer.prepared() }
                }
                // The closure retains `self`, and so keeps the session valid for the task.
                SessionQueue.launching.async { [self] in
                    delegate.run(session.uploadTask(with: outgoing, fromFile: file.url), for: transfer, upload: file)
                }
            } catch {
                transfer.fail(error)
            }
        }
        transfer.add(spooling)
    }
}
#else
extension URLSessionTransport {
    private func start(_ outgoing: URLRequest, for transfer: SessionTransfer) { launch(outgoing, for: transfer) }

    private static var canSuspend: Bool { true }

    /// Sends the content of an upload that its caller resumes. Returns `false` for any other request.
    ///
    /// Upload tasks resume by themselves if the server has the draft's protocol. Data tasks don't, so nothing is resumed twice.
    private func launchByDataTask(_ outgoing: URLRequest, for transfer: SessionTransfer) -> Bool {
        guard transfer.request.isOfResumableUpload else { return false }
        let body = transfer.request.body
        var outgoing = outgoing
        if let bytes = body.data {
            outgoing.httpBody = bytes
        } else {
            guard let stream = transfer.bodyStream() else {
                let message = "Foundation made no stream for the content."
                transfer.fail(TransportError(.transportFailed, message, request: transfer.request))
                return true
            }
            outgoing.httpBodyStream = stream
            if let length = body.length {
                outgoing.setValue(String(length), forHTTPHeaderField: HTTPField.Name.contentLength.rawName)
            }
        }
        delegate.run(session.dataTask(with: outgoing), for: transfer)
        return true
    }

    private func launchStream(_ outgoing: URLRequest, for transfer: SessionTransfer) {
        var outgoing = outgoing
        // Without the field, the content would be sent chunked.
        if let length = transfer.request.body.length {
            outgoing.setValue(String(length), forHTTPHeaderField: HTTPField.Name.contentLength.rawName)
        }
        delegate.run(session.uploadTask(withStreamedRequest: outgoing), for: transfer)
    }
}
#endif

extension URLSessionTransport: TLSConfiguredTransport {}

#if os(Linux)
extension URLSessionTransport: CurlSubstitute {
    package static func make(_ tls: TLSConfiguration, _ timeouts: Timeouts) -> Self {
        Self(tls: tls, timeouts: timeouts)
    }
}
#endif

extension Transport where Self == URLSessionTransport {
    /// Sends over the network with Foundation's `URLSession`: see ``URLSessionTransport``.
    public static func urlSession(
        tls: TLSConfiguration = .system,
        timeouts: Timeouts = Timeouts(),
        streamBuffer: Int = 16 << 20,
        time: TimeSource = .system,
        configure: @escaping @Sendable (URLSessionConfiguration) -> Void = { _ in },
        prepare: (@Sendable (inout URLRequest, HTTPRequest) -> Void)? = nil
    ) -> Self {
        URLSessionTransport(
            tls: tls,
            timeouts: timeouts,
            streamBuffer: streamBuffer,
            time: time,
            configure: configure,
            prepare: prepare
        )
    }
}
