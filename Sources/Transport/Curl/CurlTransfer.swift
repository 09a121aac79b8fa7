#if os(Linux)
internal import Foundation
internal import HTTPSyntax
internal import Synchronization

/// A response as received: the head's bytes, the body, the timings and the connection.
struct CurlReply: Sendable {
    let head: [UInt8]
    let body: HTTPBody
    let timings: TransferTimings
    let connection: HTTPConnectionInfo
    let isDecoded: Bool
}

/// One exchange: its handle, the response so far, and the caller that waits for it.
///
/// `@unchecked Sendable`, because each part has one owner at a time:
/// - The task that creates a transfer sets its variables, and passes the transfer to the loop through the inbox's mutex.
/// - From then on, only the loop's thread uses the variables below "Owned by the loop", until the loop releases the transfer.
///   libcurl's callbacks run on that thread too.
/// - Several threads use `waiter`, `download` and `upload`, each of which has a mutex.
final class CurlTransfer: @unchecked Sendable {
    private enum Waiter {
        case none
        case waiting(UnsafeContinuation<CurlReply, any Error>)
        case done(Result<CurlReply, any Error>?)
    }

    let easy: EasyHandle
    /// The request without its body, for error messages.
    let request: HTTPRequest
    let proxy: CurlTransport.Proxy
    let bodyMode: ResponseBodyMode
    let isRepeatable: Bool
    let expectsContinue: Bool
    let followsRedirects: Bool
    let upload: CurlUpload?
    let onDownload: (@Sendable (TransferProgress) -> Void)?

    private let waiter = Mutex(Waiter.none)

    // Set before the transfer is passed to the loop, then constant.
    var download: CurlDownload?
    var fieldList: CurlFieldList?
    var decodesContent = false
    var handshake: CurlHandshake?
    /// Whether the next transfer overwrites every setting on the handle. If not, the handle is reset before reuse.
    var leavesHandleClean = false
    /// Whether this is not the call's first exchange.
    var isRepetition = false
    private var inlineBody: UnsafeMutableRawBufferPointer?

    // Owned by the loop. One thread handles one piece after the other, so accesses never overlap; the run-time check for that
    // would take longer than each access.
    @exclusivity(unchecked) var head = CurlHeadCollector()
    /// The connection that the head came from. Read with the head, because libcurl releases the connection before the end.
    @exclusivity(unchecked) var connection = HTTPConnectionInfo()
    @exclusivity(unchecked) var gathered = GatheredBody()
    /// Decodes the content; `nil` if the content arrives as it is.
    @exclusivity(unchecked) var decoding: PausableDecoder?
    @exclusivity(unchecked) var received: Int64 = 0
    @exclusivity(unchecked) var failure: TransportError?
    var attempts = 0
    /// Whether the connection that libcurl chose must not be used: see ``OpenSockets``.
    var needsFreshConnection = false
    var wantsFreshConnection = false
    /// Whether the response is a redirect to follow, whose content nobody reads.
    var isFollowedRedirect = false
    /// The error that reading the content of a followed redirect throws.
    var contentFailure: TransportError?
    var isContentRefused = false
    var mustSeeEnd = false
    var hasSeenEnd = false
    var isContentDropped = false
    var connects = 0
    var localPort: Int32 = 0
    @exclusivity(unchecked) var iteration: LoopIteration?
    /// The limits of ``Timeouts``, in the loop's time.
    @exclusivity(unchecked) var timeLimits: TimeLimits

    init(
        easy: EasyHandle,
        request: HTTPRequest,
        proxy: CurlTransport.Proxy,
        timeLimits: TimeLimits,
        upload: CurlUpload?
    ) {
        self.easy = easy
        self.request = HTTPRequest(method: request.method, url: request.url)
        self.proxy = proxy
        self.timeLimits = timeLimits
        self.bodyMode = request.context.responseBody
        self.isRepeatable = request.isRepeatable
        self.expectsContinue = request.expectsContinue
        self.followsRedirects = request.context.followsRedirects
        self.upload = upload
        self.onDownload = request.context.downloadProgress
    }

    deinit {
        inlineBody?.deallocate()
        fieldList?.free()
    }

    /// Copies a small body to memory that libcurl may read until the transfer ends.
    func keepBody(_ bytes: Data) -> UnsafeRawPointer? {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, bytes.count), alignment: 1)
        bytes.copyBytes(to: copy)
        inlineBody = copy
        return UnsafeRawPointer(copy.baseAddress)
    }

    /// libcurl's text about the last failure.
    var errorMessage: String { String(cString: easy.errorText) }

    /// Resumes the caller with the result, once; later results are ignored.
    func finish(_ result: Result<CurlReply, any Error>) {
        settle(result)?.resume(with: result)
    }

    /// Records the result like ``finish(_:)``, but returns the continuation for the loop to resume. Returns `nil` if no
    /// caller waits yet, or if there is a result already.
    func settle(_ result: Result<CurlReply, any Error>) -> UnsafeContinuation<CurlReply, any Error>? {
        waiter.withLock { waiter in
            switch waiter {
            case .none:
                waiter = .done(result)
                return nil
            case .waiting(let continuation):
                waiter = .done(nil)
                return continuation
            case .done:
                return nil
            }
        }
    }

    var isFinished: Bool {
        waiter.withLock { if case .done = $0 { true } else { false } }
    }

    /// Registers the caller's continuation, which is resumed at once if the transfer has already ended.
    func setContinuation(_ continuation: UnsafeContinuation<CurlReply, any Error>) {
        let result: Result<CurlReply, any Error>? = waiter.withLock { waiter in
            if case .done(let result) = waiter { return result ?? .failure(CancellationError()) }
            waiter = .waiting(continuation)
            return nil
        }
        if let result { continuation.resume(with: result) }
    }
}
#endif
