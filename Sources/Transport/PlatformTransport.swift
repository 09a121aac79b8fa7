#if os(Linux)
internal import Foundation
internal import Synchronization

/// A transport for systems without libcurl.
package protocol CurlSubstitute: Transport {
    static func make(_ tls: TLSConfiguration, _ timeouts: Timeouts) -> Self
}
#endif

/// The network, through the platform's best transport: `URLSessionTransport` on Apple platforms, `CurlTransport` on Linux.
///
/// ```swift
/// let client = Client(baseURL: url, transport: .platform(tls: .pinned(["sha256/…", "sha256/…"])))
/// ```
/// On a Linux system without a usable libcurl, requests go through `URLSessionTransport`, if the program links the product
/// `InterceptorsURLSession` and that transport supports the TLS settings. The first such transport of a process says so on standard
/// error, and ``description`` gives the reason. Otherwise each call fails with ``HTTPErrorCode/unsupported`` and a message that names
/// the missing part.
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
    /// - Parameter findSubstitute: returns the transport to take without libcurl; `nil` if the program has none.
    init(
        tls: TLSConfiguration,
        timeouts: Timeouts,
        loadCurl: @escaping CurlLibrary.Loader,
        findSubstitute: () -> (any CurlSubstitute.Type)? = { linkedSubstitute }
    ) {
        if tls.settingsBeyondSystem == nil {
            do {
                try loadCurl()
            } catch {
                if let substitute = findSubstitute() {
                    base = substitute.make(tls, timeouts)
                    lack = (error as? TransportError)?.message ?? ErrorText.line(error)
                    Self.report(description)
                    return
                }
            }
        }
        base = CurlTransport(CurlTransport.Configuration(tls: tls, timeouts: timeouts), load: loadCurl)
    }

    /// `URLSessionTransport`, if the program has its module. Found by its name, because this module can't depend on that one.
    private static var linkedSubstitute: (any CurlSubstitute.Type)? {
        NSClassFromString("InterceptorsURLSession.URLSessionTransport") as? any CurlSubstitute.Type
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
