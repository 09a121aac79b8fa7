#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// Sends requests with Foundation's `URLSession`, on Apple's platforms and on Linux.
///
/// ```swift
/// let transport = URLSessionTransport(timeouts: Timeouts(connect: .seconds(5), whole: .seconds(30)))
/// let response = try await transport.send(HTTPRequest(url: url))
/// ```
///
/// One transport is one session with its connections: make one, and share it. It follows no redirect, keeps no cache, no
/// cookie and no credential, and retries nothing. When nobody holds it any more it takes no new call; calls in flight and
/// streamed responses go on to their end.
///
/// ## Other settings of the session
/// A closure sets the options that this transport doesn't name; on Apple's platforms, for instance:
/// ```swift
/// let transport = URLSessionTransport(timeouts: Timeouts(whole: .seconds(300))) { configuration in
///     configuration.waitsForConnectivity = true
///     configuration.allowsConstrainedNetworkAccess = false
///     configuration.httpMaximumConnectionsPerHost = 2
/// }
/// ```
/// It changes nothing of what is promised here: cache, cookies, credentials, the system's time limits and TLS are set after
/// it. A wait for connectivity counts as any other: `connect` and `idle` end it. Fields for each request belong into the chain,
/// where they are redacted and can be kept to an origin, and not into `httpAdditionalHeaders`.
///
/// ## Time limits
/// ``Timeouts`` of the request's context, else those of the transport, on a clock of its own: limits of any length hold.
/// - URLSession doesn't tell when a connection stands: `connect` bounds the time to the first sign of life, which is the
///   first byte of the body going out or the head of the response coming in. For a stream that is spooled (see below) it
///   counts from the end of the spooling.
/// - `idle` is a silence on the wire as far as URLSession tells. While received bytes wait for their reader, it doesn't run.
/// - While the process is suspended (an app in the background, a machine asleep), nobody listens to the network: `connect`
///   and `idle` count anew when it goes on. `whole` is the time that a person or a program waits, and runs on; with a
///   `SuspendingClock` it leaves out the time in which the machine is asleep, but not that of an app in the background.
///   A clock that is not the system's is taken at its word.
///
/// ## Request
/// Refused before anything is sent, with ``TransportError/Code/unsupported``: a `GET` or `HEAD` with a body, `CONNECT`, a
/// user name or password in the URL, a method whose letters URLSession would change (`get`), several `Set-Cookie` fields.
/// A file that no longer has the length it had when the body was made fails with
/// ``TransportError/Code/bodyLengthMismatch``; on Linux, one that shrinks while it is sent does so when a time limit passes.
///
/// Sent otherwise than written:
/// - fields of one name go out as one, their values joined by `", "` (`Cookie`: `"; "`), which means the same
///   (RFC 9110 §5.3); the order of fields is Foundation's, and so, on Linux, is the case of their names;
/// - a body without `Content-Type` gets `application/octet-stream`; Foundation would claim a form;
/// - `Content-Length` is Foundation's own; on Linux, methods other than GET and HEAD without a body send one of 0;
/// - Foundation adds `Accept`, `Accept-Encoding`, `Accept-Language`, `Connection` and `User-Agent` (with the program's name)
///   where the request has none; on Linux, and with a `Range`, `Accept-Encoding` is `identity`. On Apple's platforms `Connection`, `Host`, `Proxy-Authorization` and the like are reserved:
///   the system may overrule them;
/// - a value outside ASCII goes out as UTF-8 on Linux; on Apple's platforms, the system decides.
///
/// A one-shot or restartable stream is sent, on Apple's platforms, while it is read. On Linux an `InputStream` that waits
/// would hold up every session of the process, so the stream is first written to a temporary file, in constant memory and
/// readable by this user only, which is removed when the call ends, however it ends. Upload progress then begins when the
/// stream has ended.
///
/// ## Response
/// - A redirect (3xx) is given to the caller like any other response.
/// - Content codings (gzip, deflate, brotli) are undone, and `Content-Encoding` and `Content-Length` removed, even if the
///   request had its own `Accept-Encoding`. Foundation doesn't say when content ends before its coding does: such content
///   passes for whole. So on Linux no coding is asked for; `CurlTransport` asks for several, and checks them to their end.
/// - A content shorter than announced is ``TransportError/Code/truncated``. A longer one is cut off by Foundation unseen, or
///   is ``TransportError/Code/invalidResponse``.
/// - Fields are sorted by name, since Foundation keeps no order; those of one name are joined into one, but for
///   `Set-Cookie`, which is taken apart again: a comma followed by a name and `=` begins another cookie. The reason phrase is
///   the registered one, and trailer fields are lost.
/// - Streamed responses make the server wait for their reader on Apple's platforms, by `suspend()`. Apple's documentation
///   lets the system begin a suspended task anew: a second head ends the reading with ``TransportError/Code/truncated``, and
///   no content is handed out twice. `multipart/x-mixed-replace`, which has a head for each part, ends so, too. On Linux, Foundation can't wait: what the
///   reader hasn't taken is held up to `streamBuffer` bytes, and beyond that the reading fails with
///   ``TransportError/Code/readerTooSlow``, after what was held. `CurlTransport` waits.
/// - On Apple's platforms, buffered responses have ``HTTPContext/timings``. URLSession tells them at the end of an exchange,
///   which for a streamed response is too late; on Linux it doesn't tell them.
/// - Dropping or discarding a streamed body, or cancelling the task that reads it, ends the transfer.
/// - Why the system may use no network (cellular not allowed, Low Data Mode) is in the message, and in
///   `networkUnavailableReason` of the `URLError` that is the ``TransportError/underlying`` error.
///
/// ## Proxies
/// On Apple's platforms proxies and their passwords are the system's: their challenges get its default handling. The
/// certificate of a proxy over TLS is judged by the ``TLSConfiguration``; a client identity is presented to servers alone.
///
/// ## On Linux
/// Foundation (Swift 6.3) behaves so there, and no caller can change it:
/// - **It ends the process** (a trap in Foundation) if a server closes the connection within the head of a response, sends
///   trailer fields after its content, or announces a `Content-Length` of nearly 2^63. Nothing of ours runs before the trap:
///   use `CurlTransport` for servers that you don't trust.
/// - All sessions of the process share one queue: some 3,000 requests a second, however many at once. While a response comes
///   as fast as it can be read, that queue sees to nothing else. A call that ends early, by cancellation or by one of its
///   limits, ends at once for its caller; but its connection goes on receiving until the queue has got to it, at worst to
///   the end of the content. No thread of Swift's pool waits for the queue. To leave long streams early, use `CurlTransport`.
/// - Of a 3xx without a `Location` that it can parse, the content is lost. The content of other redirects is held in memory
///   whatever its size, is no sign of life to `idle`, and ends the call if it breaks off. Each chunk of it copies all those before: redirects with many
///   megabytes keep the queue busy for seconds.
/// - A response fails as ``TransportError/Code/invalidResponse`` if a field value or the reason phrase is not UTF-8, if the
///   status line has no space after the code, if a field line is longer than about 100 KB, the head longer than 300 KB, or
///   the content has a coding that is unknown.
/// - A kept-alive connection that the server closes just as a request goes out: without a body, or if no byte of it was sent
///   yet, the request is sent again, whatever its method. Once bytes of it were sent, Foundation would send the head alone
///   and wait; here the call ends with ``TransportError/Code/connectionLost``.
/// - TLS can only be the system's. With any other ``TLSConfiguration`` each call fails with
///   ``TransportError/Code/unsupported``, before anything is sent: use `CurlTransport`.
public final class URLSessionTransport: Transport {
    private let session: URLSession
    private let delegate: SessionDelegate
    private let tls: TLSConfiguration
    private let timeouts: Timeouts
    private let streamBuffer: Int
    private let clock: any Clock<Duration>
    // Where streams are kept until they are sent, on Linux.
    private let spoolDirectory: URL

    /// A transport with a session of its own.
    ///
    /// - Parameters:
    ///   - tls: whom to trust, and who to be; by default as the system has it.
    ///   - timeouts: the limits of calls whose request has none; by default a silence of 60 seconds.
    ///   - streamBuffer: the most bytes to hold for the reader of a streamed response, 16 MiB by default. On Apple's
    ///     platforms the server has to wait when they are reached; on Linux the reading fails.
    ///   - clock: what the time limits are measured by.
    ///   - configure: sets on the session's configuration what this transport does not set itself.
    public convenience init(
        tls: TLSConfiguration = .system,
        timeouts: Timeouts = Timeouts(),
        streamBuffer: Int = 16 << 20,
        clock: any Clock<Duration> = ContinuousClock(),
        configure: (URLSessionConfiguration) -> Void = { _ in }
    ) {
        self.init(
            tls: tls,
            timeouts: timeouts,
            streamBuffer: streamBuffer,
            clock: clock,
            spoolDirectory: FileManager.default.temporaryDirectory,
            configure: configure
        )
    }

    init(
        tls: TLSConfiguration = .system,
        timeouts: Timeouts,
        streamBuffer: Int,
        clock: any Clock<Duration>,
        spoolDirectory: URL,
        configure: (URLSessionConfiguration) -> Void = { _ in }
    ) {
        self.tls = tls
        self.timeouts = timeouts
        self.streamBuffer = max(0, streamBuffer)
        self.clock = clock
        self.spoolDirectory = spoolDirectory
        delegate = SessionDelegate(tls)
        let configuration = SessionDelegate.configuration(configure)
        #if canImport(Security)
        tls.apply(to: configuration)
        #endif
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    // A session keeps its delegate until it is told to end.
    deinit { session.finishTasksAndInvalidate() }

    /// Sends a request and gives its final response, whatever the status.
    ///
    /// - Throws: ``TransportError``, or `CancellationError` at once if the task is cancelled.
    public func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        let request = request
        try request.validate()
        try Task.checkCancellation()
        #if canImport(FoundationNetworking)
        try tls.checkLiterals(request)
        if let refusal = tls.refusalOfURLSessionOnLinux(request) { throw refusal }
        return try await exchange(request)
        #else
        try tls.check(request)
        guard tls.signedPins != nil else { return try await exchange(request) }
        let clock = clock
        let timeouts = request.context.timeouts ?? timeouts
        return try await tls.sendUpdatingPins(request, timeouts, .starting(clock), over: exchange)
        #endif
    }

    private func exchange(_ request: HTTPRequest) async throws -> HTTPResponse {
        let outgoing = try OutgoingRequest(request).urlRequest
        // The compiler opens the existential of a local value, and not that of a property.
        let clock = clock
        let transfer = SessionTransfer(
            request: request,
            limits: .init(
                responseBody: request.context.responseBody,
                streamBuffer: streamBuffer,
                canSuspend: Self.canSuspend
            ),
            timeouts: request.context.timeouts ?? timeouts,
            clock: CallClock.starting(clock)
        )
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { caller in
                transfer.begin(caller) { start(outgoing, for: transfer) }
            }
        } onCancel: {
            transfer.cancel()
        }
    }

    private func launch(_ outgoing: URLRequest, for transfer: SessionTransfer) {
        let body = transfer.request.body
        if body.isEmpty {
            delegate.run(session.dataTask(with: outgoing), for: transfer)
        } else if let file = body.file {
            // Foundation on Linux would announce a link's own length.
            let target = file.resolvingSymlinksInPath()
            delegate.run(session.uploadTask(with: outgoing, fromFile: target), for: transfer)
        } else if let bytes = body.bytes {
            delegate.run(session.uploadTask(with: outgoing, from: bytes), for: transfer)
        } else {
            launchStream(outgoing, for: transfer)
        }
    }
}

#if canImport(FoundationNetworking)
extension URLSessionTransport {
    // To make a task, Foundation waits for its one queue, which may be busy for seconds.
    private func start(_ outgoing: URLRequest, for transfer: SessionTransfer) {
        SessionQueue.launching.async { self.launch(outgoing, for: transfer) }
    }

    // Its suspend() and resume() begin the transfer anew.
    private static var canSuspend: Bool { false }

    private func launchStream(_ outgoing: URLRequest, for transfer: SessionTransfer) {
        let spooling = Task { [self] in
            do {
                let file = try await SpooledFile.spool(transfer.request.body, in: spoolDirectory) { _ in
                    transfer.prepared()
                }
                // The task needs the session, which `self` keeps from being invalidated.
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

    private func launchStream(_ outgoing: URLRequest, for transfer: SessionTransfer) {
        var outgoing = outgoing
        // Without it, the content would go out chunked.
        if let length = transfer.request.body.length {
            outgoing.setValue(String(length), forHTTPHeaderField: HTTPField.Name.contentLength.rawName)
        }
        delegate.run(session.uploadTask(withStreamedRequest: outgoing), for: transfer)
    }
}
#endif

extension Transport where Self == URLSessionTransport {
    /// Foundation's `URLSession`: see ``URLSessionTransport``.
    public static func urlSession(
        tls: TLSConfiguration = .system,
        timeouts: Timeouts = Timeouts(),
        streamBuffer: Int = 16 << 20,
        clock: any Clock<Duration> = ContinuousClock(),
        configure: (URLSessionConfiguration) -> Void = { _ in }
    ) -> Self {
        URLSessionTransport(
            tls: tls,
            timeouts: timeouts,
            streamBuffer: streamBuffer,
            clock: clock,
            configure: configure
        )
    }
}
