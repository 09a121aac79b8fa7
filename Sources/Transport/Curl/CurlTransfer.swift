#if os(Linux)
internal import Foundation
internal import HTTPSyntax
internal import Synchronization

/// A response: the head as it was on the wire, and the body.
struct CurlReply: Sendable {
    let head: [UInt8]
    let body: HTTPBody
    let timings: TransferTimings
    let isDecoded: Bool
}

/// One exchange: its handle, what it has received so far, and who waits for it.
///
/// `@unchecked Sendable`: the task that makes a transfer sets it up and hands it to the loop through the loop's mutex;
/// from then on only the loop's thread touches the variables below "The loop's own" (libcurl calls back on that thread
/// alone), until the loop lets go of it. What both sides touch is behind a mutex: `waiter`, `download`, `upload`.
final class CurlTransfer: @unchecked Sendable {
    private enum Waiter {
        case none
        case waiting(UnsafeContinuation<CurlReply, any Error>)
        case done(Result<CurlReply, any Error>?)
    }

    let easy: EasyHandle
    /// The request without its body, which errors name.
    let request: HTTPRequest
    let proxy: CurlTransport.Proxy
    let timeouts: Timeouts
    let bodyMode: ResponseBodyMode
    let isIdempotent: Bool
    let expectsContinue: Bool
    let followsRedirects: Bool
    let upload: CurlUpload?
    let onDownload: (@Sendable (TransferProgress) -> Void)?

    private let waiter = Mutex(Waiter.none)

    // Set before the transfer is handed over, then constant.
    var download: CurlDownload?
    var fieldList: CurlFieldList?
    var decodesContent = false
    var handshake: CurlHandshake?
    /// Whether it sets nothing on its handle that the next transfer would not overwrite.
    var leavesHandleClean = false
    /// When the call began in the loop's time, if this is not its first exchange.
    var calledAt: Duration?
    private var inlineBody: UnsafeMutableRawBufferPointer?

    // The loop's own.
    // One thread, one piece after the other: to check that no two accesses overlap would take longer than each of them.
    @exclusivity(unchecked) var head = CurlHeadCollector()
    @exclusivity(unchecked) var gathered = GatheredBody()
    /// Undoes the content's coding, if it has one that can be undone.
    @exclusivity(unchecked) var decoding: ContentDecoding?
    @exclusivity(unchecked) var received: Int64 = 0
    @exclusivity(unchecked) var failure: TransportError?
    var attempts = 0
    /// Whether the connection that libcurl has chosen must not be used: see ``OpenSockets``.
    var needsFreshConnection = false
    var wantsFreshConnection = false
    /// Whether the response is a redirect that is followed, so that nobody reads its content.
    var isFollowedRedirect = false
    /// Why the content of a followed redirect can't be read.
    var contentFailure: TransportError?
    var isContentRefused = false
    var mustSeeEnd = false
    var hasSeenEnd = false
    var isContentDropped = false
    var connects = 0
    var localPort: Int32 = 0
    @exclusivity(unchecked) var turn: LoopTurn?
    var startedAt: Duration = .zero
    @exclusivity(unchecked) var lastActivity: Duration = .zero
    var isConnected = false
    var isReceivingPaused = false

    init(
        easy: EasyHandle,
        request: HTTPRequest,
        proxy: CurlTransport.Proxy,
        timeouts: Timeouts,
        upload: CurlUpload?
    ) {
        self.easy = easy
        self.request = HTTPRequest(method: request.method, url: request.url)
        self.proxy = proxy
        self.timeouts = timeouts
        self.bodyMode = request.context.responseBody
        self.isIdempotent = request.method.isIdempotent || request.headerFields.contains(.idempotencyKey)
        self.expectsContinue = request.expectsContinue
        self.followsRedirects = request.context.followsRedirects
        self.upload = upload
        self.onDownload = request.context.downloadProgress
    }

    deinit {
        inlineBody?.deallocate()
        fieldList?.free()
    }

    /// Keeps a copy of a small body where libcurl can find it until the transfer ends.
    func keepBody(_ bytes: Data) -> UnsafeRawPointer? {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, bytes.count), alignment: 1)
        bytes.copyBytes(to: copy)
        inlineBody = copy
        return UnsafeRawPointer(copy.baseAddress)
    }

    /// libcurl's text about the last failure.
    var errorMessage: String { String(cString: easy.errorText) }

    /// Gives the caller its reply, once; later ones are ignored.
    func finish(_ result: Result<CurlReply, any Error>) {
        settle(result)?.resume(with: result)
    }

    /// The same, but leaves it to the loop to resume who waits.
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

    /// Registers who waits; at once resumed where the transfer has ended already.
    func await(_ continuation: UnsafeContinuation<CurlReply, any Error>) {
        let result: Result<CurlReply, any Error>? = waiter.withLock { waiter in
            if case .done(let result) = waiter { return result ?? .failure(CancellationError()) }
            waiter = .waiting(continuation)
            return nil
        }
        if let result { continuation.resume(with: result) }
    }
}
#endif
