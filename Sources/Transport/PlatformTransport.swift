/// The network, by the best transport that the platform has: ``URLSessionTransport`` on Apple's platforms, `CurlTransport` on
/// Linux.
///
/// ```swift
/// let client = Client(baseURL: url, transport: .platform(tls: .pinned(["sha256/…", "sha256/…"])))
/// ```
/// Where a Linux has no libcurl that can be used, it is ``URLSessionTransport`` there, too, but only if the TLS settings ask for
/// nothing that it can't do; otherwise each call fails with ``TransportError/Code/unsupported`` and says what is missing.
public struct PlatformTransport: Transport {
    let base: any Transport

    /// A transport with connections of its own.
    ///
    /// - Parameters:
    ///   - tls: whom to trust, and who to be; by default as the system has it.
    ///   - timeouts: the time limits of requests that bring none of their own.
    public init(tls: TLSConfiguration = .system, timeouts: Timeouts = Timeouts()) {
        #if os(Linux)
        self.init(tls: tls, timeouts: timeouts, loadCurl: CurlLibrary.load)
        #else
        base = URLSessionTransport(tls: tls, timeouts: timeouts)
        #endif
    }

    #if os(Linux)
    init(tls: TLSConfiguration, timeouts: Timeouts, loadCurl: CurlLibrary.Loader) {
        let mayUseURLSession = tls.whatURLSessionOnLinuxCannotDo == nil
        if mayUseURLSession, (try? loadCurl()) == nil {
            base = URLSessionTransport(timeouts: timeouts)
        } else {
            var configuration = CurlTransport.Configuration()
            configuration.tls = tls
            configuration.timeouts = timeouts
            base = CurlTransport(configuration, load: loadCurl)
        }
    }
    #endif

    /// Sends a request and gives its final response, whatever the status.
    ///
    /// - Throws: ``TransportError``, or `CancellationError` at once if the task is cancelled.
    public func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        try await base.send(request)
    }
}

extension Transport where Self == PlatformTransport {
    /// The network, by the best transport that the platform has: see ``PlatformTransport``.
    public static func platform(tls: TLSConfiguration = .system, timeouts: Timeouts = Timeouts()) -> Self {
        PlatformTransport(tls: tls, timeouts: timeouts)
    }
}
