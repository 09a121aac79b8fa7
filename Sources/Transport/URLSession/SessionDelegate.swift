internal import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Passes Foundation's events to the call that each task belongs to.
final class SessionDelegate: NSObject, URLSessionDataDelegate {
    /// A year, in seconds, which disables Foundation's timeouts: the transport enforces its own, because Foundation on Linux
    /// cuts them to whole seconds.
    static let noTimeout: Double = 365 * 24 * 60 * 60

    /// The longest silence in a background session, in seconds. The system then tries the task again, until its limit for the whole
    /// transfer: no code of the app runs that could measure another limit.
    static let backgroundSilence: Double = 60

    private let tls: TLSConfiguration
    private let transfers = Mutex<[Int: SessionTransfer]>([:])

    init(_ tls: TLSConfiguration) { self.tls = tls }

    /// Sets up a configuration that stores nothing, whatever the caller's closure sets: no cache, cookies or credentials.
    ///
    /// - Parameters:
    ///   - configuration: a new configuration.
    ///   - tls: the TLS settings.
    ///   - configure: the caller's closure.
    static func configuration(
        _ configuration: URLSessionConfiguration,
        _ tls: TLSConfiguration,
        _ configure: (URLSessionConfiguration) -> Void
    ) -> URLSessionConfiguration {
        configure(configuration)
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        configuration.urlCredentialStorage = nil
        configuration.timeoutIntervalForRequest = noTimeout
        configuration.timeoutIntervalForResource = noTimeout
        #if canImport(Security)
        tls.apply(to: configuration)
        #endif
        return configuration
    }

    /// Starts a task for a call, unless the call is over.
    func run(_ task: URLSessionTask, for transfer: SessionTransfer, upload: SpooledFile? = nil) {
        let id = task.taskIdentifier
        transfers.withLock { $0[id] = transfer }
        if transfer.attach(task, upload: upload) {
            task.resume()
        } else {
            transfers.withLock { _ = $0.removeValue(forKey: id) }
            task.cancel()
        }
    }

    private func transfer(_ task: URLSessionTask) -> SessionTransfer? {
        transfers.withLock { $0[task.taskIdentifier] }
    }

    private func complete(_ task: URLSessionTask, _ error: (any Error)?) {
        let transfer = transfers.withLock { $0.removeValue(forKey: task.taskIdentifier) }
        transfer?.completed(error, response: task.response)
    }

    // A redirect is a response like any other. Interceptors outside the transport follow redirects.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        transfer(dataTask)?.received(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transfer(dataTask)?.received(data)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        transfer(task)?.sent(totalBytesSent)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        complete(task, error)
    }

    #if !canImport(FoundationNetworking)
    // Called before the task's completion.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        if let last = metrics.transactionMetrics.last { transfer(task)?.measured(ExchangeMetrics(last)) }
    }
    #endif

    // The TLS settings answer challenges for server trust and client certificates. A server's 401 is a response like any
    // other, so no password is given. The system answers a proxy's challenges.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(FoundationNetworking)
        // Foundation on Linux asks when the 401 and its content have been received. After any reply nothing more of them
        // arrives: Foundation sends the request again, cancels, or waits forever. So the call ends here.
        complete(task, nil)
        completionHandler(.cancelAuthenticationChallenge, nil)
        #else
        let transfer = transfer(task)
        tls.answer(challenge) { answer in
            if let failure = answer.failure { transfer?.refuse(failure) }
            completionHandler(answer.disposition, answer.credential)
        }
        #endif
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        let transfer = transfer(task)
        #if canImport(FoundationNetworking)
        // libcurl wants to send the body again, because a kept-alive connection was closed. Foundation can rewind only a
        // stream. For other bodies it would send the head without the body, and wait until a time limit.
        transfer?.lostKeptAliveConnection()
        completionHandler(nil)
        #else
        completionHandler(transfer?.bodyStream())
        #endif
    }

    #if !canImport(FoundationNetworking)
    // The system resumes an upload of a stream by itself if the server has the protocol.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStreamFrom offset: Int64,
        completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(transfer(task)?.bodyStream(from: offset))
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        transfer(task)?.received(interim: response)
    }
    #endif
}
