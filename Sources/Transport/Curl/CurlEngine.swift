#if os(Linux)
internal import CCurl
internal import Foundation
internal import Synchronization

/// Owns the loop, the spare handles and the settings of one transport. Streamed bodies keep the engine alive beyond the
/// transport.
final class CurlEngine: Sendable {
    let loop: CurlLoop
    private let pool: EasyHandlePool
    private let sockets = OpenSockets()
    private let blocks = BlockPool()
    private let tls: CurlTLS
    private let proxy: CurlTransport.Proxy
    private let userAgent = UserAgent.line
    private let users = Mutex(1)

    init(_ configuration: CurlTransport.Configuration, load: CurlLibrary.Loader) throws {
        try load()
        let tls = try CurlTLS(configuration.tls)
        self.tls = tls
        var configuration = configuration
        // libcurl would otherwise look up each proxy variable for each request.
        if configuration.proxy == .environment, !CurlTransport.Proxy.environmentNamesAny { configuration.proxy = .none }
        try configuration.proxy.check()
        proxy = configuration.proxy
        pool = EasyHandlePool { [configuration, sockets] easy in
            Self.setCommon(easy, configuration)
            sockets.use(in: easy)
            tls.prepare(easy)
        }
        loop = try CurlLoop(
            limits: configuration.connectionLimits,
            clock: LoopClock(configuration.clock),
            pool: pool,
            sockets: sockets
        )
    }

    func retain() { users.withLock { $0 += 1 } }

    /// Ends one use, by the transport or by a streamed body. The last one stops the loop.
    func release() {
        let isLast = users.withLock { users in
            users -= 1
            return users == 0
        }
        if isLast { loop.stop() }
    }

    /// - Parameter calledAt: the start of the call, if this is not its first exchange. The exchange then uses a new
    ///   connection, and the limit of the whole call counts from this time.
    func exchange(
        _ request: HTTPRequest,
        _ configuration: CurlTransport.Configuration,
        againSince calledAt: Duration? = nil
    ) async throws -> HTTPResponse {
        guard request.body.isReadable else { throw TransportError.bodyNotReplayable(request: request) }
        // The body is announced as empty and sent without reading. A file may have grown and a stream may have bytes after
        // all, so check.
        if request.body.isEmptySource { try await readToEnd(request, configuration) }
        let transfer = try makeTransfer(request, configuration, freshConnection: calledAt != nil)
        transfer.calledAt = calledAt
        transfer.upload?.begin(request.body) { [loop, weak transfer] in
            if let transfer { loop.send(.unpause(transfer)) }
        }
        return try response(from: try await reply(of: transfer), to: request)
    }

    /// Reads the body within the time limits. Throws if the body has more bytes than announced.
    private func readToEnd(_ request: HTTPRequest, _ configuration: CurlTransport.Configuration) async throws {
        let timeouts = request.context.timeouts ?? configuration.timeouts
        guard let limit = [timeouts.idle, timeouts.whole].compactMap({ $0 }).min() else {
            return try await request.body.forEachChunk { _ in }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await request.body.forEachChunk { _ in } }
            group.addTask { [clock = loop.clock] in
                try await clock.sleep(limit)
                throw TransportError(.timedOut, "The end of the empty content did not come within \(limit).")
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func reply(of transfer: CurlTransfer) async throws -> CurlReply {
        try await withTaskCancellationHandler {
            // CurlTransfer resumes this continuation exactly once: its mutex hands the continuation to one caller only.
            try await withUnsafeThrowingContinuation { continuation in
                transfer.await(continuation)
                loop.send(.start(transfer))
            }
        } onCancel: {
            // The caller continues at once. The loop closes the connection when it reads the command.
            transfer.finish(.failure(CancellationError()))
            loop.send(.cancel(transfer))
        }
    }

    private func response(from reply: CurlReply, to request: HTTPRequest) throws -> HTTPResponse {
        guard var head = WireHead(parsing: reply.head) else {
            reply.body.discard()
            throw TransportError(.invalidResponse, "The head of the response can't be read.")
        }
        if reply.isDecoded {
            head.fields.remove(.contentEncoding)
            head.fields.remove(.contentLength)
        }
        var response = HTTPResponse(
            status: head.status,
            headerFields: head.fields,
            body: reply.body,
            url: request.url
        )
        response.context.timings = reply.timings
        return response
    }
}

// Creates a transfer: all settings of its handle.
extension CurlEngine {
    private static let inlineBodyLimit = 64 * 1024

    private func makeTransfer(
        _ request: HTTPRequest,
        _ configuration: CurlTransport.Configuration,
        freshConnection: Bool
    ) throws -> CurlTransfer {
        guard request.method != .connect, request.method != .head || request.body.isEmpty else {
            throw TransportError(.unsupported, "CONNECT, and HEAD with content, can't be sent.", request: request)
        }
        var easy = try pool.take()
        guard easy.setTarget(request.url.absoluteString) else {
            easy.free()
            throw TransportError(.unsupportedURL, "libcurl can't read the URL.", request: request)
        }
        let transfer = CurlTransfer(
            easy: easy,
            request: request,
            proxy: proxy,
            timeouts: request.context.timeouts ?? configuration.timeouts,
            upload: Self.needsUpload(request)
                ? CurlUpload(length: request.body.length, onProgress: request.context.uploadProgress) : nil
        )
        if transfer.bodyMode.bufferLimit == nil { transfer.download = makeDownload(for: transfer) }
        do {
            try setConnection(easy, request, configuration, transfer)
        } catch {
            easy.free()
            throw error
        }
        if freshConnection { easy.set(CCURLOPT_FRESH_CONNECT, 1) }
        let isPlainGet = setMethodAndBody(easy, request, transfer)
        setFields(easy, request, transfer)
        setContexts(easy, transfer)
        // The next transfer overwrites all settings made here. If there are others, the handle is reset before reuse.
        transfer.leavesHandleClean =
            isPlainGet && !freshConnection && transfer.handshake == nil && transfer.decodesContent
            && transfer.download == nil
        return transfer
    }

    private func makeDownload(for transfer: CurlTransfer) -> CurlDownload {
        retain()
        // Weak, because the transfer owns the download. The loop retains the transfer as long as it is active.
        return CurlDownload(pool: blocks) { [weak transfer, loop] in
            if let transfer { loop.send(.unpause(transfer)) }
        } onAbandoned: { [weak transfer, loop] in
            if let transfer { loop.send(.cancel(transfer)) }
        } onReleased: { [self] in
            release()
        }
    }

    /// Whether the body is sent piece by piece. The alternative, one block of memory, has no progress reports.
    private static func needsUpload(_ request: HTTPRequest) -> Bool {
        guard !request.body.isEmpty else { return false }
        // The server decides whether it wants the content, so the content must not go out with the head.
        if request.expectsContinue { return true }
        guard let bytes = request.body.bytes else { return true }
        return bytes.count > inlineBodyLimit || request.context.uploadProgress != nil
    }

    /// Sets the options that all transfers of a transport share.
    private static func setCommon(_ easy: EasyHandle, _ configuration: CurlTransport.Configuration) {
        easy.set(CCURLOPT_NOSIGNAL, 1)
        // Otherwise a transfer that ends during its host lookup blocks all others until the resolver gives up.
        easy.setIfKnown(CCURLOPT_QUICK_EXIT, 1)
        easy.set(CCURLOPT_PROTOCOLS, Int(CCURLPROTO_HTTP.rawValue | CCURLPROTO_HTTPS.rawValue))
        easy.set(CCURLOPT_FOLLOWLOCATION, 0)
        // After a 417 to `Expect`, libcurl would send the request again and again: see CurlTransfer.isExpectationRefused(_:).
        easy.set(CCURLOPT_MAXREDIRS, 0)
        // The path is sent as it was signed, including its dot segments.
        easy.set(CCURLOPT_PATH_AS_IS, 1)
        easy.set(CCURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        // The loop enforces the time limits, because libcurl's own timers keep running while a transfer is paused.
        easy.set(CCURLOPT_CONNECTTIMEOUT_MS, 1 << 30)
        if configuration.versions != .negotiated || CurlLibrary.hasHTTP2 {
            easy.set(CCURLOPT_HTTP_VERSION, Int(configuration.versions.option))
        }
        if let proxy = configuration.proxy.url {
            easy.set(CCURLOPT_PROXY, text: proxy)
            // Otherwise the exceptions that the environment's `no_proxy` names would apply.
            easy.set(CCURLOPT_NOPROXY, text: "")
        }
        if configuration.versions.needsFreshConnections {
            easy.set(CCURLOPT_FRESH_CONNECT, 1)
            easy.set(CCURLOPT_FORBID_REUSE, 1)
        }
        // libcurl only asks for the codings. The transport decodes, because libcurl doesn't report coded content that ends
        // too soon.
        easy.set(CCURLOPT_ACCEPT_ENCODING, text: ContentCoding.acceptEncoding)
        easy.set(CCURLOPT_HTTP_CONTENT_DECODING, 0)
        // With libcurl's default of 16 KB, long bodies take up to 50 % longer; short bodies are equally fast. From 128 KB on,
        // the C library would request the memory from the system for each transfer.
        easy.setIfKnown(CCURLOPT_BUFFERSIZE, 124 * 1024)
        easy.set(CCURLOPT_HEADERFUNCTION, callback: onHeader)
        easy.set(CCURLOPT_WRITEFUNCTION, callback: onBody)
        _ = ccurl_easy_setopt_prerequest_callback(easy.pointer, onPrerequest)
        SocketLimits(configuration.timeouts).set(on: easy)
    }

    /// Sets how the handle finds a connection, and how it verifies the peer.
    private func setConnection(
        _ easy: EasyHandle,
        _ request: HTTPRequest,
        _ configuration: CurlTransport.Configuration,
        _ transfer: CurlTransfer
    ) throws {
        // Makes libcurl wait for a connection that it can share, rather than open another one.
        let isTLS = request.url.isHTTPS
        let versions = configuration.versions
        let canShare =
            versions == .negotiated && isTLS || versions == .http2PriorKnowledge && !versions.needsFreshConnections
        easy.set(CCURLOPT_PIPEWAIT, canShare ? 1 : 0)
        // The connection to a proxy may use TLS too.
        if isTLS || proxy != .none { transfer.handshake = try tls.prepareHandshake(easy, for: request, through: proxy) }
    }

    /// Returns `true` for a GET without content.
    private func setMethodAndBody(_ easy: EasyHandle, _ request: HTTPRequest, _ transfer: CurlTransfer) -> Bool {
        let method = request.method
        if transfer.upload != nil {
            easy.set(CCURLOPT_UPLOAD, 1)
            easy.set(CCURLOPT_INFILESIZE_LARGE, bytes: request.body.length ?? -1)
        } else if !request.body.isEmpty || method == .post || method == .put || method == .patch {
            // A file or a stream gets here only if it is empty.
            let bytes = request.body.bytes ?? Data()
            easy.set(CCURLOPT_POST, 1)
            easy.set(CCURLOPT_POSTFIELDSIZE_LARGE, bytes: Int64(bytes.count))
            easy.set(CCURLOPT_POSTFIELDS, transfer.keepBody(bytes))
        } else if method == .head {
            easy.set(CCURLOPT_NOBODY, 1)
        } else {
            easy.set(CCURLOPT_HTTPGET, 1)
        }
        let isImplied = method == .get && request.body.isEmpty
        if !isImplied, method != .head {
            easy.set(CCURLOPT_CUSTOMREQUEST, text: method.rawValue)
        }
        return isImplied
    }

    private func setFields(_ easy: EasyHandle, _ request: HTTPRequest, _ transfer: CurlTransfer) {
        let fields = request.headerFields
        // Lines that end in a colon remove the fields that libcurl would add.
        var lines: [StaticString] = fields.contains(.accept) ? [] : ["Accept:"]
        if !request.body.isEmpty || request.method != .get {
            if !fields.contains(.contentType) { lines.append("Content-Type:") }
            if !fields.contains(.expect) { lines.append("Expect:") }
        }
        // A part of coded content can't be decoded, nor be combined with parts of uncoded content.
        let (asksForPart, asksForCoding) = (fields.contains(.range), fields.contains(.acceptEncoding))
        if asksForPart, !asksForCoding { lines.append("Accept-Encoding: identity") }
        transfer.decodesContent = !asksForPart && !asksForCoding
        if !transfer.decodesContent { easy.set(CCURLOPT_ACCEPT_ENCODING, nil) }
        let ownLine = fields.contains(.userAgent) ? nil : userAgent
        transfer.fieldList = CurlFieldList(fields, lines, ownLine: ownLine)
        easy.set(CCURLOPT_HTTPHEADER, transfer.fieldList?.pointer)
    }

    private func setContexts(_ easy: EasyHandle, _ transfer: CurlTransfer) {
        let context = Unmanaged.passUnretained(transfer).toOpaque()
        easy.set(CCURLOPT_HEADERDATA, context)
        easy.set(CCURLOPT_WRITEDATA, context)
        easy.set(CCURLOPT_PREREQDATA, context)
        guard transfer.upload != nil else { return }
        easy.set(CCURLOPT_READDATA, context)
        easy.set(CCURLOPT_READFUNCTION, callback: onRead)
    }
}

private func transfer(_ context: UnsafeMutableRawPointer?) -> CurlTransfer? {
    context.map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
}

private let onHeader: ccurl_data_callback = { bytes, size, count, context in
    guard let transfer = transfer(context) else { return 0 }
    let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return transfer.receiveHeaderLine(line) ? line.count : 0
}

private let onBody: ccurl_data_callback = { bytes, size, count, context in
    guard let transfer = transfer(context) else { return 0 }
    let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return switch transfer.receive(piece) {
    case .accepted: piece.count
    case .paused: Int(CCURL_WRITEFUNC_PAUSE.rawValue)
    case .refused: 0
    }
}

private let onRead: ccurl_data_callback = { bytes, size, count, context in
    guard let transfer = transfer(context) else { return Int(CCURL_READFUNC_ABORT.rawValue) }
    return switch transfer.provide(into: UnsafeMutableRawBufferPointer(start: bytes, count: size * count)) {
    case .bytes(let count): count
    case .wait: Int(CCURL_READFUNC_PAUSE.rawValue)
    case .end: 0
    case .failed: Int(CCURL_READFUNC_ABORT.rawValue)
    }
}

private let onPrerequest: ccurl_prerequest_callback = { context, _, _, _, localPort in
    guard let transfer = transfer(context), transfer.allowSending(from: localPort) else {
        return Int32(CCURL_PREREQFUNC_ABORT.rawValue)
    }
    return Int32(CCURL_PREREQFUNC_OK.rawValue)
}

extension CertificateBundle {
    /// Names the file to libcurl, which switches its cache of the file on. Debian's default is a folder, which each new
    /// connection would read again, in 28 ms of CPU time.
    func use(in easy: EasyHandle) {
        guard let path else { return }
        easy.set(CCURLOPT_CAPATH, nil)
        easy.set(CCURLOPT_CAINFO, text: path)
    }
}
#endif
