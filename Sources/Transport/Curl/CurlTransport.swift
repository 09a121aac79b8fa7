#if os(Linux)
public import Foundation
internal import CCurl

/// Sends over the network with the system's libcurl: the transport for Linux.
///
/// ## Use one
/// ```swift
/// let transport = CurlTransport()
/// let client = Client(baseURL: url, interceptors: chain, transport: transport)
/// ```
/// One transport keeps its connections and runs one thread; make one for a program or for each TLS configuration, not one
/// for each request. It ends when nobody holds it any longer and no streamed body is being read; ``shutDown()`` ends it
/// at once.
///
/// ## What it does
/// - HTTP/1.1 with keep-alive, and HTTP/2 with multiplexing over TLS where the server offers it.
/// - Repeated fields, their order and spelling are kept both ways. A value that is not UTF-8 is read as ISO 8859-1.
/// - `User-Agent` is the program's name and `Interceptors`, unless the request has one of its own; with an empty one, none is
///   sent. No other field is added but `Host` and what the content, its codings and HTTP/2 need.
/// - gzip, deflate, brotli and zstd are asked for and decoded where the system has their libraries, unless the request has an
///   `Accept-Encoding` of its own or a `Range`: then the content is delivered as it came. With a `Range` alone, `identity`
///   is asked for, since a part of what is coded can't be decoded. Content that ends before its coding does is
///   ``TransportError/Code/truncated``, a wrong checksum ``TransportError/Code/invalidResponse``; gzip may have several
///   members. Content in a coding that can't be undone is handed on as it came, with its `Content-Encoding`.
/// - Streams both ways with backpressure: a reader that falls behind pauses its transfer, for which less than 1 MB is held, and
///   about 256 KB where many streams are read at a time.
/// - What a server sends is bounded: a head by 256 KB, each of its fields by 100 KB, a buffered body by the request's limit,
///   which counts it decoded, as do the limits of those who read a stream. However much a piece of a stream decodes to, it
///   is decoded no faster than it is read.
/// - ``HTTPContext/timings`` on each response.
/// - ``TLSConfiguration`` in full: pins on any certificate of the chain, anchors, client identities. With other settings than the
///   system's, no TLS session is resumed, and libcurl's TLS library must be the system's OpenSSL 3.
/// - A peer that is gone without a word is found out: connections on which nothing happens are probed, and one whose peer
///   doesn't answer, or takes nothing of what is sent, ends after the ``Timeouts/idle`` of the configuration, at least 30
///   seconds, even if its requests allow a longer silence. With `nil` it ends after a minute if it was unused, otherwise when
///   the system gives up, after some 15 minutes. No later call gets the connection of one that ran into a limit of its ``Timeouts``,
///   unless others are using it; nor does one get the connection of a call that is cancelled after a second of
///   silence, as by a `timeout` of the chain.
/// - A kept-alive connection of HTTP/1 on which the server sent or closed anything while no request was under way isn't used:
///   nothing is sent on it, and its bytes answer no request (RFC 9112 §9.2). Bytes that arrive between this check and the
///   request can't be told from the response.
/// - Framing that RFC 9112 §6.3 forbids, such as lengths that differ or a bare CR in a field, is
///   ``TransportError/Code/invalidResponse``. Content that ends with a TLS connection is whole only if TLS says that it ends
///   (§9.8). libcurl shows neither the sizes of chunks, of which it takes `5:x`, nor, before 8.0, that a stream of HTTP/2 without
///   a length was reset without an error: there the content passes for whole.
/// - A response of known length that comes before its request was sent is the answer as soon as the rest of the request is
///   lost, or pauses for a second. libcurl doesn't tell where a chunked one ends: there the limits of ``Timeouts`` hold.
/// - A body isn't read before a connection stands: a refused connection leaves a one-shot body for another attempt.
/// - With `Expect: 100-continue` content goes out when the server asks for it, or after a second. After a final response over
///   HTTP/1 none follows, and the connection isn't used again. A 417 has the request sent again once, without the
///   expectation, if its body can be read again; otherwise the 417 is the response, of which libcurl drops the content.
/// - A certificate must name its host in subjectAltName; its common name isn't compared (RFC 9525). Only the system's OpenSSL 3
///   can be told so; another TLS library of libcurl goes by rules of its own.
/// - Child processes inherit no connection. Before 8.8 libcurl itself lets them inherit a pair of sockets that carries nothing.
/// - libcurl 7.84 to 8.0 must not use a handle for a second response, so each request takes 3 to 5 µs more there, and no TLS
///   session is resumed.
/// - libcurl 7.88 keeps a core busy while a server of HTTP/2 takes nothing of an upload: the limits of ``Timeouts`` bound that.
/// - Only http and https are spoken. Redirects, cookies and `.netrc` are off.
/// - What a connection that the server was ending left unanswered is sent again, if the method is idempotent or an
///   `Idempotency-Key` says that it may: a kept-alive connection that was closed, or one of HTTP/2 that had served as many as
///   the server allows. libcurl sends up to six times; then, if its body can be read again, the same begins once more, each time
///   with a connection of its own, so that it is the first which the server hears there. The time limit for the whole holds
///   for all of this together. Otherwise the call fails with ``TransportError/Code/connectionLost``.
/// - libcurl doesn't tell what an ending connection of HTTP/2 refused from what it may have acted on. So with many requests in
///   flight a few that are not idempotent fail at the end of each connection (nginx ends one after 1,000). Give those that may
///   be sent again an `Idempotency-Key`; or send them with ``Versions/http1``, where a server announces the end beforehand.
///
/// libcurl 7.80 or later is loaded at run time; where it is missing, each call fails with
/// ``TransportError/Code/unsupported`` and a message that says what to install.
public final class CurlTransport: Transport {
    /// The most connections at a time; 0 means no limit. Requests beyond it wait, in order.
    public struct ConnectionLimits: Sendable, Hashable {
        /// To one host and port.
        public var perHost: Int
        /// To all of them.
        public var total: Int
        /// Kept alive without use.
        public var idle: Int

        /// Limits; by default 64 to a host, 256 in all, and as many kept alive.
        public init(perHost: Int = 64, total: Int = 256, idle: Int = 256) {
            self.perHost = perHost
            self.total = total
            self.idle = idle
        }
    }

    /// Which proxy to use.
    public struct Proxy: Sendable, Hashable {
        let url: String?

        /// The one that `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` name: the default. A transport that is made
        /// while they name none doesn't look again.
        public static let environment = Proxy(url: nil)
        /// None, whatever the environment says.
        public static let none = Proxy(url: "")
        /// This one: an `http`, `https` or `socks5h` URL, with user and password where it wants them.
        ///
        /// Delimiters in user and password, such as `@`, `/` and `#`, must be percent-encoded. With a URL that libcurl can't
        /// read, or might read in another way, each call fails with ``TransportError/Code/unsupported``.
        public static func url(_ url: URL) -> Proxy { Proxy(url: url.absoluteString) }
    }

    /// Which versions of HTTP to speak.
    public struct Versions: Sendable, Hashable {
        let option: UInt32

        /// HTTP/2 where a TLS server offers it, otherwise HTTP/1.1: the default.
        public static let negotiated = Versions(option: CCURL_HTTP_VERSION_2TLS.rawValue)
        /// HTTP/1.1 alone.
        public static let http1 = Versions(option: CCURL_HTTP_VERSION_1_1.rawValue)
        /// HTTP/2 without asking the server, also without TLS. With libcurl 7.88, which can't use such a connection again, each
        /// request has one of its own.
        public static let http2PriorKnowledge = Versions(option: CCURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE.rawValue)

        var needsFreshConnections: Bool { self == .http2PriorKnowledge && !CurlLibrary.reusesPriorKnowledge }
    }

    /// The settings of a transport.
    public struct Configuration: Sendable {
        /// The time limits of requests that bring none of their own.
        public var timeouts = Timeouts()
        /// The most connections.
        public var connectionLimits = ConnectionLimits()
        /// The proxy.
        public var proxy = Proxy.environment
        /// The versions of HTTP.
        public var versions = Versions.negotiated
        /// Whom to trust, and who to be.
        public var tls = TLSConfiguration.system
        /// The clock of the time limits.
        public var clock: any Clock<Duration> = ContinuousClock()

        /// The defaults.
        public init() {}
    }

    private let configuration: Configuration
    private let engine: Result<CurlEngine, any Error>

    /// A transport. It connects to nothing yet; where libcurl can't be used, each call will say so.
    public convenience init(_ configuration: Configuration = Configuration()) {
        self.init(configuration, load: CurlLibrary.load)
    }

    init(_ configuration: Configuration, load: CurlLibrary.Loader) {
        self.configuration = configuration
        engine = Result { try CurlEngine(configuration, load: load) }
    }

    deinit { (try? engine.get())?.release() }

    /// Ends every call in flight with ``TransportError/Code/connectionLost``, closes every connection and ends the thread.
    /// Later calls fail.
    public func shutDown() async {
        guard case .success(let engine) = engine else { return }
        engine.loop.stop()
        await engine.loop.ended()
    }

    /// Sends a request.
    ///
    /// - Throws: ``TransportError``, or `CancellationError` at once when the task is cancelled.
    public func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        try request.validate()
        try configuration.tls.check(request)
        try Task.checkCancellation()
        let engine = try usableEngine(for: request)
        guard configuration.tls.signedPins != nil else { return try await send(request, engine) }
        let clock = configuration.clock
        let timeouts = request.context.timeouts ?? configuration.timeouts
        return try await configuration.tls.sendUpdatingPins(request, timeouts, .starting(clock)) { request in
            try await send(request, engine)
        }
    }

    private func usableEngine(for request: borrowing HTTPRequest) throws -> CurlEngine {
        do {
            return try engine.get()
        } catch let error as TransportError {
            throw error.about(copy request)
        }
    }

    private func send(_ request: HTTPRequest, _ engine: CurlEngine) async throws -> HTTPResponse {
        let calledAt = engine.loop.clock.now()
        do {
            do {
                return try await exchange(request, engine)
            } catch let error as TransportError where error.code == .staleConnection && Self.canBeSentAgain(request) {
                // The body had begun to go out on a connection that the server was about to close, and libcurl can't rewind
                // it, but it can be made anew. Or one such connection after another refused it, but none can be ending of
                // which it is the first request. Whatever fails then is no fault of a connection's age.
                return try await engine.exchange(request, configuration, againSince: calledAt)
            }
        } catch let error as TransportError {
            throw error.about(request)
        }
    }

    /// Sends a request, without its expectation if the server can't meet that (RFC 9110 §15.5.18), and the content can be had again.
    private func exchange(_ request: HTTPRequest, _ engine: CurlEngine) async throws -> HTTPResponse {
        let calledAt = engine.loop.clock.now()
        let response = try await engine.exchange(request, configuration)
        guard response.status == 417, request.expectsContinue, request.body.isRestartable else { return response }
        response.body.discard()
        var unconditional = request
        unconditional.headerFields.remove(.expect)
        return try await engine.exchange(unconditional, configuration, againSince: calledAt)
    }

    private static func canBeSentAgain(_ request: borrowing HTTPRequest) -> Bool {
        request.body.isRestartable
            && (request.method.isIdempotent || request.headerFields.contains(.idempotencyKey))
    }
}

extension Transport where Self == CurlTransport {
    /// The network, through the system's libcurl: ``CurlTransport``.
    public static func curl(_ configuration: CurlTransport.Configuration = .init()) -> Self { Self(configuration) }
}
#endif
