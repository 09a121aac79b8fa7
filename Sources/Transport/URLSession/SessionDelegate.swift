internal import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Tells each call of a session what Foundation says of its task.
final class SessionDelegate: NSObject, URLSessionDataDelegate {
    /// Foundation's own timeouts are put out of the way, by a year: on Linux they are cut to whole seconds.
    static let noTimeout: Double = 365 * 24 * 60 * 60

    private let tls: TLSConfiguration
    private let transfers = Mutex<[Int: SessionTransfer]>([:])

    init(_ tls: TLSConfiguration) { self.tls = tls }

    /// A configuration that keeps nothing, whatever the caller wants otherwise: no cache, no cookies, no credentials.
    static func configuration(_ configure: (URLSessionConfiguration) -> Void) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configure(configuration)
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        configuration.urlCredentialStorage = nil
        configuration.timeoutIntervalForRequest = noTimeout
        configuration.timeoutIntervalForResource = noTimeout
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

    // A redirect is an answer like any other: whoever wants to follow it is outside of the transport.
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
    // Comes before the end of the task.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        if let last = metrics.transactionMetrics.last { transfer(task)?.measured(ExchangeDates(last).timings) }
    }
    #endif

    // Server trust and client certificates are for the TLS settings to judge. Passwords of servers are nobody's here: a 401
    // is an answer like any other. Those of proxies are the system's to know.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(FoundationNetworking)
        // Here Foundation asks when the 401 and its content have been received, and whatever it is told, nothing more
        // of them comes: it sends the request again, or cancels, or waits for ever.
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
        // libcurl wants to send the body again, since a kept-alive connection was closed under it. Foundation can't
        // rewind one that is no stream: it would send a head without its body, and wait until a time limit ends it.
        transfer?.lostKeptAliveConnection()
        completionHandler(nil)
        #else
        completionHandler(transfer?.bodyStream())
        #endif
    }
}
