/// The network, through the platform's best transport: ``URLSessionTransport`` on Apple platforms, `CurlTransport` on Linux.
///
/// ```swift
/// let client = Client(baseURL: url, transport: .platform(tls: .pinned(["sha256/…", "sha256/…"])))
/// ```
/// On a Linux system without a usable libcurl, requests go through ``URLSessionTransport``, provided it supports the TLS
/// settings. Otherwise each call fails with ``HTTPErrorCode/unsupported`` and a message that names the missing part.
public struct PlatformTransport: Transport {
    let base: any Transport

    /// Creates a transport with a separate connection pool.
    ///
    /// - Parameters:
    ///   - tls: the certificates to trust and the client identity to present. By default the system's settings.
    ///   - timeouts: the time limits of requests that set none.
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
            base = URLSessionTransport(tls: tls, timeouts: timeouts)
        } else {
            var configuration = CurlTransport.Configuration()
            configuration.tls = tls
            configuration.timeouts = timeouts
            base = CurlTransport(configuration, load: loadCurl)
        }
    }
    #endif

    /// Sends a request and returns its final response, whatever the status.
    ///
    /// - Throws: ``TransportError``, or `CancellationError` at once if the task is cancelled.
    public func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        try await base.send(request)
    }
}

extension PlatformTransport: ForwardingTransport {
    package var targets: [any Transport]? { [base] }
}

extension Transport where Self == PlatformTransport {
    /// The network, through the platform's best transport: see ``PlatformTransport``.
    public static func platform(tls: TLSConfiguration = .system, timeouts: Timeouts = Timeouts()) -> Self {
        PlatformTransport(tls: tls, timeouts: timeouts)
    }
}
