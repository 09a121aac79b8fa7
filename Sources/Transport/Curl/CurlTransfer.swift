#if os(Linux)
internal import CCurl
internal import Foundation
internal import Synchronization

/// What came back: the head as it was on the wire, and the body.
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
    /// What errors name: the request without its body.
    let request: HTTPRequest
    let proxy: CurlTransport.Proxy
    let timeouts: Timeouts
    let bodyMode: ResponseBodyMode
    let isIdempotent: Bool
    let expectsContinue: Bool
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
    @exclusivity(unchecked) private(set) var decoding: ContentDecoding?
    @exclusivity(unchecked) var received: Int64 = 0
    @exclusivity(unchecked) var failure: TransportError?
    var attempts = 0
    /// Whether the connection that libcurl has chosen must not be used: see ``OpenSockets``.
    private(set) var needsFreshConnection = false
    private var wantsFreshConnection = false
    private var isContentRefused = false
    private var mustSeeEnd = false
    private var hasSeenEnd = false
    private var isContentDropped = false
    private var connects = 0
    private var localPort: Int32 = 0
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

    /// What libcurl says of the last failure.
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

// Called by libcurl, on the loop's thread.
extension CurlTransfer {
    /// One line of a head, or of the trailers.
    func receiveHeaderLine(_ line: UnsafeRawBufferPointer) -> Bool {
        touch()
        let isEnd = head.receive(line)
        guard !head.isTooLong else {
            failure = TransportError(.invalidResponse, "The head of the response is longer than 256 KB.")
            return false
        }
        if let fault = head.framing.fault {
            failure = TransportError(.invalidResponse, fault)
            return false
        }
        guard isEnd else { return true }
        if decodesContent, head.hasContentEncoding, hasContent, let codings = head.codings, !codings.isEmpty {
            decoding = ContentDecoding(codings)
        }
        if head.isHTTP1, turn?.sockets.noteHTTP1(from: localPort, through: handshake?.proxySSL) == false {
            leavesHandleClean = false
            easy.set(CCURLOPT_FORBID_REUSE, 1)
        }
        if expectsContinue, head.isHTTP1, let upload, upload.hasSentNothing { refuseContent() }
        if upload != nil, easy.long(CCURLINFO_RESPONSE_CODE) >= 300 { turn?.refused.append(self) }
        watchEndIfNeeded()
        noteSurplus()
        if let download {
            finish(.success(reply(body: download.body(length: hasContent ? contentLength : 0))))
        } else if hasContent, let limit = bodyMode.bufferLimit, let length = contentLength {
            guard length <= Int64(limit) else {
                failure = .bodyTooLarge(limit: limit)
                return false
            }
            gathered.reserve(Int(length))
        }
        return true
    }

    typealias Receipt = ContentDecoding.Receipt

    /// A piece of the body.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Receipt {
        touch()
        guard head.isComplete else {
            // Such as what follows a 101, to a protocol that nobody asked for: there is no response for it to be the body of.
            failure = TransportError(.invalidResponse, "Content came without the head of a final response.")
            return .refused
        }
        guard let decoding else { return take(bytes) }
        do {
            return try decoding.receive(bytes) { take($0) }
        } catch let error as ContentDecodingError {
            failure = error.transportError
        } catch {
            failure = TransportError(.other, "The content could not be decoded.")
        }
        return .refused
    }

    /// Why content that has come to its end is not whole; `nil` if it is.
    var unfinishedContent: TransportError? {
        do {
            try decoding?.finish()
            return nil
        } catch {
            return (error as? ContentDecodingError)?.transportError
        }
    }

    /// A piece of the body, decoded.
    private func take(_ bytes: UnsafeRawBufferPointer) -> Receipt {
        if let download {
            switch download.offer(bytes) {
            case .accepted: break
            case .awaited: turn?.awaited.append(download)
            case .full:
                isReceivingPaused = true
                return .paused
            case .abandoned: return .refused
            }
        } else {
            let limit = bodyMode.bufferLimit ?? 0
            guard bytes.count <= limit - gathered.count else {
                failure = .bodyTooLarge(limit: limit)
                return .refused
            }
            guard gathered.append(bytes) else {
                failure = TransportError(
                    .other,
                    "There is no memory for the content after \(gathered.count) bytes of it."
                )
                return .refused
            }
        }
        received += Int64(bytes.count)
        noteSurplus()
        onDownload?(TransferProgress(completed: received, total: contentLength))
        return .accepted
    }

    /// Called each time the request is about to go out; a second time only if libcurl sends it again by itself, after a
    /// kept-alive connection turned out to be closed.
    func allowSending(from localPort: Int32) -> Bool {
        let connects = easy.long(CCURLINFO_NUM_CONNECTS)
        defer { self.connects = connects }
        self.localPort = localPort
        if connects == self.connects, isUnusable(localPort) {
            // A second time can't be, and must not be without an end.
            if wantsFreshConnection { failure = .staleConnection } else { needsFreshConnection = true }
            return false
        }
        attempts += 1
        isConnected = true
        touch()
        upload?.start()
        guard attempts > 1 else { return true }
        // libcurl counts the tries of a handle, not of a transfer, until the handle is reset.
        leavesHandleClean = false
        guard !isIdempotent else { return true }
        failure = .staleConnection
        return false
    }

    /// Whether a kept-alive connection was closed by the server, or holds bytes that answer no request.
    private func isUnusable(_ localPort: Int32) -> Bool {
        guard let sockets = turn?.sockets, sockets.speaksHTTP1(from: localPort) else { return false }
        // A record of TLS may hold more than the last response, and then the system has nothing more to say of it.
        return sockets.isReadable(from: localPort) || CurlTLS.hasUnreadBytes(easy)
    }

    /// Lets libcurl open a connection instead of choosing one.
    func useFreshConnection() {
        (needsFreshConnection, wantsFreshConnection) = (false, true)
        (leavesHandleClean, connects) = (false, 0)
        easy.errorText[0] = 0
        easy.set(CCURLOPT_FRESH_CONNECT, 1)
    }

    /// The next piece of a streamed request body.
    func provide(into buffer: UnsafeMutableRawBufferPointer) -> CurlUpload.Piece {
        touch()
        guard let upload, !isContentRefused else { return .end }
        return upload.read(into: buffer)
    }

    /// A final response came where `100` or nothing was expected: no content follows, and the server must not take the next
    /// request for it (RFC 9110 §10.1.1).
    private func refuseContent() {
        isContentRefused = true
        easy.set(CCURLOPT_FORBID_REUSE, 1)
    }

    /// Content that ends with its connection is whole only if TLS says so (RFC 9112 §9.8). libcurl doesn't ask, and lets the
    /// connection go before it says that the transfer has ended, but it calls this after each reading.
    private func watchEndIfNeeded() {
        guard head.isHTTP1, request.url.isHTTPS, hasContent, head.framing.endsWithConnection else { return }
        (mustSeeEnd, leavesHandleClean) = (true, false)
        easy.set(CCURLOPT_XFERINFODATA, Unmanaged.passUnretained(self).toOpaque())
        _ = ccurl_easy_setopt_progress_callback(easy.pointer, onProgress)
        easy.set(CCURLOPT_NOPROGRESS, 0)
    }

    fileprivate func lookForEnd() { hasSeenEnd = hasSeenEnd || CurlTLS.hasEnded(easy) }

    /// Whether the connection ended without the end of TLS, and the content with it.
    var isCut: Bool { mustSeeEnd && !hasSeenEnd }

    /// Whether libcurl has ended with a 417, after which it would send the request again. It has dropped the content.
    func isExpectationRefused(_ code: Int32) -> Bool {
        guard code == CCURLE_TOO_MANY_REDIRECTS.rawValue, head.isComplete else { return false }
        isContentDropped = true
        return true
    }

    /// Whether the server has answered, and then refused or lost what remained of the request.
    func isAnsweredDespite(_ code: Int32) -> Bool {
        switch ccurl_code(UInt32(bitPattern: code)) {
        case CCURLE_SEND_ERROR, CCURLE_RECV_ERROR, CCURLE_HTTP2, CCURLE_HTTP2_STREAM:
            failure == nil && upload?.failure == nil && isResponseComplete
        default: false
        }
    }

    /// Whether it was cancelled after a silence in which its connection may have died.
    var mayWaitInVain: Bool {
        guard let turn, !head.isComplete, !isReceivingPaused else { return false }
        return turn.now - lastActivity >= .seconds(1)
    }

    /// Whether the response is whole, though the request may not be. Of a chunked one libcurl tells only with the transfer's end.
    var isResponseComplete: Bool {
        guard head.isComplete else { return false }
        guard hasContent, !mayBeDropped else { return true }
        let length = easy.int64(CCURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
        return length >= 0 && easy.int64(CCURLINFO_SIZE_DOWNLOAD_T) >= length
    }

    private func noteSurplus() {
        if upload != nil, isResponseComplete { turn?.hasSurplus = true }
    }

    private func touch() {
        if let turn { lastActivity = turn.now }
    }

    private var contentLength: Int64? {
        let length = easy.int64(CCURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
        return length >= 0 && !isDecoded && !mayBeDropped ? length : nil
    }

    /// Whether libcurl may drop the content: it would send a refused expectation again.
    private var mayBeDropped: Bool { expectsContinue && easy.long(CCURLINFO_RESPONSE_CODE) == 417 }

    private var isDecoded: Bool { decoding != nil }

    private var hasContent: Bool {
        HTTPResponse.hasContent(status: easy.long(CCURLINFO_RESPONSE_CODE), answering: request.method)
    }

    func reply(body: HTTPBody) -> CurlReply {
        CurlReply(
            head: head.bytes,
            body: body,
            timings: TransferTimings(easy),
            isDecoded: isDecoded || isContentDropped
        )
    }
}

private let onProgress: ccurl_progress_callback = { context, _, _, _, _ in
    if let context { Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue().lookForEnd() }
    return 0
}

/// Gathers the lines of the final head: interim ones (1xx) and those of proxies are let go, trailers are not kept.
struct CurlHeadCollector {
    private(set) var bytes: [UInt8] = []
    private(set) var hasContentEncoding = false
    private(set) var framing = CurlFraming()
    private(set) var isComplete = false
    var isHTTP1: Bool { bytes.count > 5 && bytes[5] == UInt8(ascii: "1") }
    /// Whether there is no end to it: libcurl limits each line alone.
    var isTooLong: Bool { bytes.count > 256 * 1024 }
    private var isInterim = false
    private var isBetweenHeads = true

    /// The codings of the content; `nil` if one of them can't be undone.
    var codings: [ContentCoding]? {
        let fields = WireHead(parsing: bytes)?.fields
        return fields.flatMap { ContentCoding.parse($0[values: .contentEncoding]) }
    }

    /// Takes a line; whether it ended the final head.
    mutating func receive(_ line: UnsafeRawBufferPointer) -> Bool {
        if isComplete { return false }
        // A line within a head is none, whatever it looks like.
        if isBetweenHeads, Self.isStatusLine(line) {
            bytes.removeAll(keepingCapacity: true)
            bytes.reserveCapacity(512)
            (hasContentEncoding, framing) = (false, CurlFraming())
            isInterim = Self.statusClass(line) == UInt8(ascii: "1")
            isBetweenHeads = false
        }
        if line.count <= 2, line.first == 0x0D || line.first == 0x0A {
            isBetweenHeads = true
            isComplete = !isInterim
            return isComplete
        }
        framing.note(line)
        if line.count > 17, line[7] == UInt8(ascii: "-"), Self.hasPrefix("content-encoding:", line) {
            hasContentEncoding = true
        }
        bytes.append(contentsOf: line)
        return false
    }

    private static func isStatusLine(_ line: UnsafeRawBufferPointer) -> Bool {
        line.count > 5 && hasPrefix("http/", line)
    }

    private static func statusClass(_ line: UnsafeRawBufferPointer) -> UInt8? {
        guard let space = line.firstIndex(of: 0x20), space + 1 < line.count else { return nil }
        return line[space + 1]
    }

    private static func hasPrefix(_ lowercased: StaticString, _ line: UnsafeRawBufferPointer) -> Bool {
        let prefix = UnsafeBufferPointer(start: lowercased.utf8Start, count: lowercased.utf8CodeUnitCount)
        return line.count >= prefix.count && zip(prefix, line).allSatisfy { $0 == ASCII.lowercased($1) }
    }
}

extension HTTPRequest {
    /// Whether content goes out only after the server has asked for it (RFC 9110 §10.1.1).
    var expectsContinue: Bool {
        guard !body.isEmpty, headerFields.contains(.expect) else { return false }
        return headerFields[values: .expect].contains { $0.lowercased().contains("100-continue") }
    }
}
#endif
