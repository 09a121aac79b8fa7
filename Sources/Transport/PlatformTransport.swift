#if os(Linux)
internal import Foundation
internal import Synchronization

#endif
/// The network, through the platform's best transport: ``URLSessionTransport`` on Apple platforms, `CurlTransport` on Linux.
///
/// ```swift
/// let client = Client(baseURL: url, transport: .platform(tls: .pinned(["sha256/…", "sha256/…"])))
/// ```
/// On a Linux system without a usable libcurl, requests go through ``URLSessionTransport``, provided it supports the TLS
/// settings. The first such transport of a process says so on standard error, and ``description`` gives the reason. With other
/// TLS settings each call fails with ``HTTPErrorCode/unsupported`` and a message that names the missing part.
public struct PlatformTransport: Transport {
    let base: any Transport
    /// The reason that another transport than the platform's best is used; `nil` if it isn't.
    private var lack: String?

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
        do {
            if mayUseURLSession { try loadCurl() }
            var configuration = CurlTransport.Configuration()
            configuration.tls = tls
            configuration.timeouts = timeouts
            base = CurlTransport(configuration, load: loadCurl)
        } catch {
            base = URLSessionTransport(tls: tls, timeouts: timeouts)
            lack = (error as? TransportError)?.message ?? ErrorText.line(error)
            Self.report(description)
        }
    }

    /// Writes the text to standard error, for the first transport of the process that lacks libcurl.
    private static func report(_ text: String) {
        guard !hasReported.exchange(true, ordering: .relaxed) else { return }
        try? FileHandle.standardError.write(contentsOf: Data("[Interceptors] \(text)\n".utf8))
    }

    private static let hasReported = Atomic(false)
    #endif

    /// Sends a request and returns its final response, whatever the status.
    ///
    /// - Throws: ``TransportError``, or `CancellationError` at once if the task is cancelled.
    public func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        try await base.send(request)
    }
}

extension PlatformTransport: CustomStringConvertible {
    /// The name of the transport that sends, and the reason if it isn't the platform's best.
    public var description: String {
        "PlatformTransport over \(type(of: base))" + (lack.map { ", which is slower and checks less: \($0)" } ?? "")
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
