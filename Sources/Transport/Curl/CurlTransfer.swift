#if os(Linux)
internal import Foundation
internal import InterceptorsSyntax
internal import Synchronization

/// A response as received: the head's bytes, the body, the timings and the connection.
struct CurlReply: Sendable {
    let head: [UInt8]
    let body: HTTPBody
    let trailers: HTTPTrailers?
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
/// - Several threads use `call`, `download` and `upload`, each of which has a mutex.
final class CurlTransfer: @unchecked Sendable {
    /// Resumed with `nil` to hand out interim heads.
    typealias Continuation = UnsafeContinuation<CurlReply?, any Error>

    private enum Waiter {
        case none
        case waiting(Continuation)
        case done(Result<CurlReply, any Error>?)
    }

    private struct Call {
        var waiter = Waiter.none
        /// The interim heads that the caller's task hasn't taken.
        var interims: [[UInt8]] = []
    }

    let easy: EasyHandle
    /// The request without its body, for error messages.
    let request: HTTPRequest
    let proxy: CurlTransport.Proxy
    /// Each host and port has a limit of connections, however the URL spells them.
    let host: Origin?
    let bodyMode: ResponseBodyMode
    let isRepeatable: Bool
    let expectsContinue: Bool
    let followsRedirects: Bool
    let upload: CurlUpload?
    let onDownload: (@Sendable (TransferProgress) -> Void)?
    /// Where a caller that cuts the call off looks whether anything was sent.
    let notes: InterruptionNotes?
    /// Whether the caller wants the heads of interim responses.
    let tellsInterim: Bool

    private let call = Mutex(Call())

    // Set before the transfer is passed to the loop, then constant.
    var download: CurlDownload?
    var fieldList: CurlFieldList?
    var decodesContent = false
    /// Whether the request may go over a connection that other requests use at the same time, if the server speaks HTTP/2.
    var canShareConnection = false
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
    /// Whether the transfer ended in a way that leaves no trailer field unseen.
    var hasSeenTrailers = false
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
        self.host = Origin(request.url)
        self.timeLimits = timeLimits
        self.bodyMode = request.context.responseBody
        self.isRepeatable = request.isRepeatable
        self.expectsContinue = request.expectsContinue
        self.followsRedirects = request.context.followsRedirects
        self.upload = upload
        self.onDownload = request.context.downloadProgress
        self.notes = request.context.interruptionNotes
        self.tellsInterim = request.context.interim != nil
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
        settle(result)?.resume(with: result.map(Optional.some))
    }

    /// Records the result like ``finish(_:)``, but returns the continuation for the loop to resume. Returns `nil` if no
    /// caller waits yet, or if there is a result already.
    func settle(_ result: Result<CurlReply, any Error>) -> Continuation? {
        call.withLock { call in
            switch call.waiter {
            case .none:
                call.waiter = .done(result)
                return nil
            case .waiting(let continuation):
                call.waiter = .done(nil)
                return continuation
            case .done:
                return nil
            }
        }
    }

    /// Hands an interim head to the caller's task, unless the call has ended.
    func add(interim head: [UInt8]) {
        let continuation: Continuation? = call.withLock { call in
            switch call.waiter {
            case .done: return nil
            case .none:
                call.interims.append(head)
                return nil
            case .waiting(let continuation):
                call.interims.append(head)
                call.waiter = .none
                return continuation
            }
        }
        continuation?.resume(returning: nil)
    }

    /// Removes and returns the interim heads, in the order of arrival.
    func takeInterims() -> [[UInt8]] {
        call.withLock { call in
            defer { call.interims = [] }
            return call.interims
        }
    }

    var isFinished: Bool {
        call.withLock { if case .done = $0.waiter { true } else { false } }
    }

    /// Registers the caller's continuation, which is resumed at once if there are interim heads or the transfer has ended.
    func setContinuation(_ continuation: Continuation) {
        let result: Result<CurlReply?, any Error>? = call.withLock { call in
            if !call.interims.isEmpty { return .success(nil) }
            if case .done(let result) = call.waiter {
                // Owned by the caller from here on: a response kept here would never be released if nobody reads its body.
                call.waiter = .done(nil)
                return result?.map(Optional.some) ?? .failure(CancellationError())
            }
            call.waiter = .waiting(continuation)
            return nil
        }
        if let result { continuation.resume(with: result) }
    }
}
#endif
