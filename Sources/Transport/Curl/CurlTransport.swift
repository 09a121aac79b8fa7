#if os(Linux)
internal import CInterceptorsCurl
public import Foundation

/// Sends requests over the network with the system's libcurl. This is the transport for Linux.
///
/// ## Using a transport
/// ```swift
/// let transport = CurlTransport()
/// let client = Client(baseURL: url, interceptors: chain, transport: transport)
/// ```
/// A transport keeps its connections alive and runs one thread. Make one for the whole program, or one for each TLS
/// configuration, rather than one for each request. The transport ends when nothing refers to it and no streamed body is
/// being read; ``shutDown()`` ends it at once.
///
/// libcurl 7.80 or later is loaded at run time. If it is missing, each call fails with ``HTTPErrorCode/unsupported``
/// and a message that says what to install.
///
/// ## Versions of HTTP and fields
/// - HTTP/1.1 with keep-alive. Over TLS, HTTP/2 with multiplexing if the server offers it, for requests without content whose
///   method is idempotent or that have an `Idempotency-Key`. All other requests use HTTP/1.1. So do heads of more than
///   8 KB, which nginx may refuse over HTTP/2 without an answer.
/// - The reason is libcurl, of which no release is known to be right. If an HTTP/2 server responds before it has the content
///   and then resets the stream, libcurl drops the response, against RFC 9113 §8.1. With HAProxy this happened to 195 of
///   200 uploads of 20 KB and to all larger ones, so that an expired token wasn't refreshed. And when a server ends a
///   connection, libcurl doesn't say which requests the server refused, so that those that aren't idempotent fail.
/// - HTTP/1.1 costs connections, one for each request in flight, and no CPU time. With libcurl, 6,000 small POSTs to nginx, 32 in
///   flight, took 34 µs each over 32 connections, and 38 to 39 µs over HTTP/2; one after another, 26 and 51 to 58 µs.
/// - ``Versions/http2`` sends everything over HTTP/2 all the same.
/// - Only `http` and `https` URLs. libcurl's redirects, cookies and `.netrc` are off.
/// - Repeated fields, their order and their spelling are kept both ways. A value that isn't UTF-8 is read as ISO 8859-1.
/// - `User-Agent` is the program's name followed by `Interceptors`. A request's `User-Agent` replaces it, and an empty one
///   sends no such field. The transport adds only `Host` and the fields that the content, its codings and HTTP/2 need.
///
/// ## Content
/// - The transport asks for gzip, deflate, brotli and zstd, if the system has their libraries, and decodes the content. If
///   the request has an `Accept-Encoding` or `Range` field, the content arrives undecoded. With `Range` alone, the transport
///   asks for `identity`, because a part of coded content can't be decoded.
/// - Content that ends before its coding does fails with ``HTTPErrorCode/truncated``, and a wrong checksum with
///   ``HTTPErrorCode/invalidResponse``. gzip content may have several members. Content in an unsupported coding arrives
///   undecoded, with its `Content-Encoding`.
/// - Bodies stream both ways with backpressure. A slow reader pauses its transfer, which then holds less than 1 MB, or about
///   256 KB if many streams are read at a time.
/// - The size of a response is limited: 256 KB for its head, 100 KB for each field, and the request's limit for a buffered
///   body. Limits count decoded bytes. Content is never decoded faster than it is read, however much a piece decodes to.
/// - Each response has ``HTTPContext/timings`` and ``HTTPContext/connection``.
///
/// ## TLS and proxies
/// - Every setting of ``TLSConfiguration`` works: pins on any certificate of the chain, anchors and client identities.
///   Settings other than the system's require that libcurl's TLS library is the system's OpenSSL 3, and no TLS session is
///   resumed with them.
/// - A certificate must name its host in subjectAltName; its common name isn't compared (RFC 9525). The transport can require
///   this only of the system's OpenSSL 3. Another TLS library of libcurl follows its usual rules.
///
/// ## Connections
/// - TCP keep-alive finds peers that vanished silently. If a peer doesn't answer the probes, or takes no sent data, its
///   connection ends after the transport's ``Timeouts/idle``, at least 30 seconds. This holds even if a request allows a
///   longer silence. If ``Timeouts/idle`` is `nil`, an unused connection ends after a minute, and a used one when the system
///   gives up, after about 15 minutes.
/// - A connection on which a limit of ``Timeouts`` passed gets no further calls. Neither does the connection of a call that is
///   cancelled after a second of silence, for instance by `timeout` in the chain. As long as other calls keep such an HTTP/2
///   connection open, for instance an event stream, later calls to its server use HTTP/1.1. With ``Versions/http2``, each of
///   them uses a new connection.
/// - A kept-alive HTTP/1 connection isn't used if the server closed it or sent bytes between requests. Those bytes never
///   become a response (RFC 9112 §9.2). Bytes that arrive after this check and before the request can't be told from the
///   response.
/// - If a server ends a connection before it responds, the request is sent again, provided that its method is idempotent or
///   it has an `Idempotency-Key`. This concerns kept-alive connections that were closed, and HTTP/2 connections that reached
///   the server's limit of requests.
/// - libcurl sends such a request up to six times. If the body can be read again, the transport then starts over, each time
///   on a new connection where the request is the first. The time limit for the whole call covers all of these. Any other
///   request fails with ``HTTPErrorCode/connectionLost``.
/// - With ``Versions/http2``, requests that aren't idempotent and have no `Idempotency-Key` fail at the end of each connection if
///   many are in flight. nginx ends a connection after 1,000 requests.
/// - Child processes inherit no connection. Before 8.8, libcurl lets them inherit a pair of sockets that carries no data.
///
/// ## Requests and responses
/// - A body isn't read until its connection is established, so a refused connection leaves a one-shot body for another
///   attempt. An error from before then has ``TransportError/sentNothing``, whatever its code, and `retry` repeats even a POST.
/// - A response whose framing RFC 9112 §6.3 forbids, such as with differing lengths or a bare CR in a field, fails with
///   ``HTTPErrorCode/invalidResponse``. So does one in a transfer coding other than `chunked`. Content that the end of a TLS
///   connection delimits is complete only if TLS signals its end (§9.8).
/// - A response of known length may arrive before its request has been sent. The call then returns it as soon as the rest of
///   the request can't be sent, or pauses for a second. libcurl doesn't say where a chunked response ends, so there the
///   limits of ``Timeouts`` apply.
/// - ``HTTPResponse/trailers`` are reported for HTTP/1.1 and HTTP/2, up to 256 KB. libcurl accepts less, depending on its version:
///   4 KB a line over HTTP/1.1, and 128 KB over HTTP/2. Over HTTP/2, libcurl drops the trailers of content whose length is
///   announced, and reading them throws ``HTTPErrorCode/trailersUnavailable``. Some servers send trailers only to a request with the
///   fields `TE: trailers` and, over HTTP/1.1, `Connection: TE`.
/// - Interim responses are passed to ``HTTPContext/interim``. More than 1,000 of them, or more than 256 KB, fail the call with
///   ``HTTPErrorCode/invalidResponse``.
/// - With `Expect: 100-continue`, the content is sent when the server asks for it, or after a second. If a final response
///   comes first, the content isn't sent, and the connection isn't reused. With ``Versions/http2`` over HTTP/2, libcurl doesn't wait.
/// - A status of 300 or higher that comes early ends the sending of content. libcurl doesn't read a response that arrives while
///   it sends a piece if the connection breaks meanwhile. Over HTTP/1.1 through HAProxy, this happened to none of 200
///   uploads of each size from 20 KB to 1 MB, to 1 of 200 of 5 MB, and to 3 of 200 of 20 MB; on a busy machine to 8 to 15 of
///   100 from 1 MB on. These calls fail with ``HTTPErrorCode/connectionLost``. `Expect: 100-continue` avoids it.
/// - After a 417, the request is sent once more without the expectation, if its body can be read again. Otherwise the 417 is
///   the response, without its content, which libcurl drops.
///
/// ## Limits of libcurl
/// - libcurl doesn't report the sizes of chunks, and accepts a size such as `5:x`. Before 8.0, it doesn't report that an
///   HTTP/2 stream without a length was reset without an error code. In both cases the content is taken for complete.
/// - With libcurl 7.84 to 8.0, a handle must not be used for a second response. Each request then takes 3 to 5 µs more, and
///   no TLS session is resumed.
/// - libcurl 7.88 keeps a core busy while an HTTP/2 server takes none of an upload. The limits of ``Timeouts`` end that.
public final class CurlTransport: Transport {
    /// The proxy that a transport uses.
    public struct Proxy: Sendable, Hashable {
        let url: String?

        /// The proxy named by `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`: the default. If no variable names a
        /// proxy when the transport is made, the transport doesn't look again.
        public static let environment = Proxy(url: nil)
        /// No proxy, whatever the environment names.
        public static let none = Proxy(url: "")
        /// A proxy at an `http`, `https` or `socks5h` URL, which includes a user and password if the proxy requires them.
        ///
        /// Percent-encode delimiters in the user and password, such as `@`, `/` and `#`. If libcurl can't read the URL, or
        /// might read it differently, each call fails with ``HTTPErrorCode/unsupported``.
        public static func url(_ url: URL) -> Proxy { Proxy(url: url.absoluteString) }
    }

    /// The versions of HTTP that a transport speaks.
    public struct Versions: Sendable, Hashable {
        let option: UInt32
        /// Whether HTTP/2 carries every request, and not only those that may be sent again.
        private var isForAll = false

        private init(option: ccurl_value, isForAll: Bool = false) {
            (self.option, self.isForAll) = (option.rawValue, isForAll)
        }

        /// HTTP/2 over TLS, if a server offers it, for requests without content that may be sent again; HTTP/1.1 for all others: the
        /// default. libcurl may lose the responses to uploads over HTTP/2.
        public static let negotiated = Versions(option: CCURL_HTTP_VERSION_2TLS)
        /// HTTP/2 over TLS for every request, if a server offers it; otherwise HTTP/1.1. Choose it if one connection matters more
        /// than the response to an upload that the server refuses early, and than a POST at the end of a connection.
        public static let http2 = Versions(option: CCURL_HTTP_VERSION_2TLS, isForAll: true)
        /// HTTP/1.1 only.
        public static let http1 = Versions(option: CCURL_HTTP_VERSION_1_1)
        /// HTTP/2 without negotiation, even without TLS. libcurl 7.88 can't reuse such a connection, so each request opens a
        /// new one there.
        public static let http2PriorKnowledge = Versions(option: CCURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE, isForAll: true)

        var negotiates: Bool { option == CCURL_HTTP_VERSION_2TLS.rawValue }

        /// Whether a request may use connections that may speak HTTP/2.
        func mayShare(_ request: HTTPRequest) -> Bool {
            guard negotiates, request.url.isHTTPS, CurlLibrary.hasHTTP2 else { return true }
            return isForAll || request.body.isEmpty && request.isRepeatable && !Self.mayBeTooLong(request)
        }

        /// Whether a server may refuse the head as too long, which nginx does without an answer over HTTP/2.
        private static func mayBeTooLong(_ request: HTTPRequest) -> Bool {
            let fields = request.headers.reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count }
            return fields + request.url.absoluteString.utf8.count > 8_000
        }

        var needsFreshConnections: Bool { self == .http2PriorKnowledge && !CurlLibrary.reusesPriorKnowledge }
    }

    /// The maximum numbers of simultaneous connections, as the public initializer describes them.
    package struct ConnectionLimits: Sendable {
        package var perHost = 64
        package var total = 256
        package var idle = 256
    }

    /// The settings of a transport.
    package struct Configuration: Sendable {
        package var tls = TLSConfiguration.system
        package var timeouts = Timeouts()
        package var versions = Versions.negotiated
        package var proxy = Proxy.environment
        package var connectionLimits = ConnectionLimits()
        package var time = TimeSource.system
    }

    private let configuration: Configuration
    private let engine: Result<CurlEngine, any Error>

    /// Creates a transport without connecting to anything. If libcurl can't be used, each call throws an error that says so.
    ///
    /// Requests beyond a maximum of connections wait in order, for at most ``Timeouts/idle``; 0 means no maximum. Up to 100 requests at a
    /// time share an HTTP/2 connection. With ``Versions/negotiated``, the HTTP/1.1 connections are counted separately from those
    /// that may speak HTTP/2: each maximum then holds for each of the two.
    ///
    /// - Parameters:
    ///   - tls: the certificates to trust, the pins, and the client identity; by default the system's trust.
    ///   - timeouts: the time limits of requests whose context sets none; the defaults of ``Timeouts``.
    ///   - versions: the versions of HTTP; by default ``Versions/negotiated``.
    ///   - proxy: the proxy; by default the environment's.
    ///   - connectionsPerHost: the maximum number of connections to one host and port; 64 by default.
    ///   - connections: the maximum number of connections to all hosts together; 256 by default.
    ///   - idleConnections: the maximum number of unused connections that are kept alive; 256 by default.
    ///   - time: its clock measures the time limits; by default ``TimeSource/system``.
    public convenience init(
        tls: TLSConfiguration = .system,
        timeouts: Timeouts = Timeouts(),
        versions: Versions = .negotiated,
        proxy: Proxy = .environment,
        connectionsPerHost: Int = 64,
        connections: Int = 256,
        idleConnections: Int = 256,
        time: TimeSource = .system
    ) {
        self.init(
            Configuration(
                tls: tls,
                timeouts: timeouts,
                versions: versions,
                proxy: proxy,
                connectionLimits: .init(perHost: connectionsPerHost, total: connections, idle: idleConnections),
                time: time
            )
        )
    }

    package convenience init(_ configuration: Configuration) { self.init(configuration, load: CurlLibrary.load) }

    init(_ configuration: Configuration, load: CurlLibrary.Loader) {
        self.configuration = configuration
        engine = Result { try CurlEngine(configuration, load: load) }
    }

    deinit { (try? engine.get())?.release() }

    /// Shuts the transport down: each call in flight fails with ``HTTPErrorCode/connectionLost``, and all connections
    /// and the thread end. Returns when the thread has ended. Later calls fail.
    public func shutDown() async {
        guard case .success(let engine) = engine else { return }
        engine.stop()
        await engine.ended()
    }

    /// Sends a request and returns its response.
    ///
    /// - Throws: ``TransportError``, or `CancellationError` at once when the task is cancelled.
    public func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        try request.validate()
        try configuration.tls.check(request)
        try Task.checkCancellation()
        return try await response(to: request)
    }

    private func response(to request: HTTPRequest) async throws -> HTTPResponse {
        do {
            let engine = try engine.get()
            guard configuration.tls.signedPins != nil else { return try await engine.response(to: request) }
            let (clock, timeouts) = (configuration.time.stopwatch(), engine.timeouts(of: request))
            return try await configuration.tls.sendUpdatingPins(request, timeouts, clock) { request in
                try await engine.response(to: request)
            }
        } catch let error as TransportError {
            throw error.about(request)
        }
    }
}

extension CurlTransport.Configuration {
    package init(tls: TLSConfiguration = .system) { self.init(tls: tls, timeouts: Timeouts()) }
}

extension CurlTransport: TLSConfiguredTransport {
    package var tls: TLSConfiguration { configuration.tls }
}
#endif
