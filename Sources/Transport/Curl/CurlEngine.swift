#if os(Linux)
internal import CCurl
internal import Foundation
internal import Synchronization

/// The loop of one transport and its spare handles; streamed bodies keep it alive beyond the transport.
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
        // libcurl would look for each of its variables for each request.
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

    /// One user less: the transport, or a streamed body. The last one ends the loop.
    func release() {
        let isLast = users.withLock { users in
            users -= 1
            return users == 0
        }
        if isLast { loop.stop() }
    }

    /// - Parameter calledAt: when the call began, if it has been sent before: then it gets a connection of its own.
    func exchange(
        _ request: HTTPRequest,
        _ configuration: CurlTransport.Configuration,
        againSince calledAt: Duration? = nil
    ) async throws -> HTTPResponse {
        guard request.body.isReadable else { throw TransportError.bodyNotReplayable(request: request) }
        // It is sent as empty without being read, even if a file has grown, or a stream holds something after all.
        if request.body.isEmptySource { try await readToEnd(request, configuration) }
        let transfer = try makeTransfer(request, configuration, freshConnection: calledAt != nil)
        transfer.calledAt = calledAt
        transfer.upload?.begin(request.body) { [loop, weak transfer] in
            if let transfer { loop.send(.unpause(transfer)) }
        }
        return try response(from: try await reply(of: transfer), to: request)
    }

    /// Throws what reading throws, such as that there is more than was announced.
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
            // A transfer resumes its continuation once, whatever happens: see CurlTransfer.finish(_:).
            try await withUnsafeThrowingContinuation { continuation in
                transfer.await(continuation)
                loop.send(.start(transfer))
            }
        } onCancel: {
            // The caller goes on at once; the loop lets go of the connection as soon as it gets to it.
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

// Making a transfer: every setting of its handle.
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
        // All that is set beyond the settings of the pool is overwritten by the next transfer, or else reset.
        transfer.leavesHandleClean =
            isPlainGet && !freshConnection && transfer.handshake == nil && transfer.decodesContent
            && transfer.download == nil
        return transfer
    }

    private func makeDownload(for transfer: CurlTransfer) -> CurlDownload {
        retain()
        // Weak: the transfer owns the download. The loop holds the transfer as long as there is something to do for it.
        return CurlDownload(pool: blocks) { [weak transfer, loop] in
            if let transfer { loop.send(.unpause(transfer)) }
        } onAbandoned: { [weak transfer, loop] in
            if let transfer { loop.send(.cancel(transfer)) }
        } onReleased: { [self] in
            release()
        }
    }

    /// Whether the body is sent piece by piece, and not in one from memory, of which libcurl tells no progress.
    private static func needsUpload(_ request: HTTPRequest) -> Bool {
        guard !request.body.isEmpty else { return false }
        // The server says whether it wants the content: none goes out by itself.
        if request.expectsContinue { return true }
        guard let bytes = request.body.bytes else { return true }
        return bytes.count > inlineBodyLimit || request.context.uploadProgress != nil
    }

    /// Sets the options that all transfers of a transport share.
    private static func setCommon(_ easy: EasyHandle, _ configuration: CurlTransport.Configuration) {
        easy.set(CCURLOPT_NOSIGNAL, 1)
        // Otherwise a transfer that ends while its host is looked up holds up all others until the resolver gives up.
        easy.setIfKnown(CCURLOPT_QUICK_EXIT, 1)
        easy.set(CCURLOPT_PROTOCOLS, Int(CCURLPROTO_HTTP.rawValue | CCURLPROTO_HTTPS.rawValue))
        easy.set(CCURLOPT_FOLLOWLOCATION, 0)
        // A 417 to `Expect` would have it send the request again and again: see CurlTransfer.isExpectationRefused(_:).
        easy.set(CCURLOPT_MAXREDIRS, 0)
        // The path goes out as it was signed, with its dot segments.
        easy.set(CCURLOPT_PATH_AS_IS, 1)
        easy.set(CCURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        // The loop keeps the time limits; libcurl's own would not stop while a transfer is paused.
        easy.set(CCURLOPT_CONNECTTIMEOUT_MS, 1 << 30)
        if configuration.versions != .negotiated || CurlLibrary.hasHTTP2 {
            easy.set(CCURLOPT_HTTP_VERSION, Int(configuration.versions.option))
        }
        if let proxy = configuration.proxy.url {
            easy.set(CCURLOPT_PROXY, text: proxy)
            // Otherwise the exceptions of the environment would hold for it.
            easy.set(CCURLOPT_NOPROXY, text: "")
        }
        if configuration.versions.needsFreshConnections {
            easy.set(CCURLOPT_FRESH_CONNECT, 1)
            easy.set(CCURLOPT_FORBID_REUSE, 1)
        }
        // libcurl asks for the codings, and hands their content on as it came: it doesn't say when one ends too soon.
        easy.set(CCURLOPT_ACCEPT_ENCODING, text: ContentCoding.acceptEncoding)
        easy.set(CCURLOPT_HTTP_CONTENT_DECODING, 0)
        // With libcurl's 16 KB long bodies take up to half as long again; small ones take the same with either. From 128 KB on
        // the C library would ask the system for that memory anew for each of them.
        easy.setIfKnown(CCURLOPT_BUFFERSIZE, 124 * 1024)
        easy.set(CCURLOPT_HEADERFUNCTION, callback: onHeader)
        easy.set(CCURLOPT_WRITEFUNCTION, callback: onBody)
        _ = ccurl_easy_setopt_prerequest_callback(easy.pointer, onPrerequest)
        SocketLimits(configuration.timeouts).set(on: easy)
    }

    /// How to find a connection, and whom to trust at its other end.
    private func setConnection(
        _ easy: EasyHandle,
        _ request: HTTPRequest,
        _ configuration: CurlTransport.Configuration,
        _ transfer: CurlTransfer
    ) throws {
        // Without it each request that finds no idle connection opens one, instead of waiting whether one can be shared.
        let isTLS = request.url.isHTTPS
        let versions = configuration.versions
        let canShare =
            versions == .negotiated && isTLS || versions == .http2PriorKnowledge && !versions.needsFreshConnections
        easy.set(CCURLOPT_PIPEWAIT, canShare ? 1 : 0)
        // A proxy may be spoken to over TLS, too.
        if isTLS || proxy != .none { transfer.handshake = try tls.prepareHandshake(easy, for: request, through: proxy) }
    }

    /// Returns whether it is a GET without content.
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
        // libcurl adds these of its own accord.
        var lines: [StaticString] = fields.contains(.accept) ? [] : ["Accept:"]
        if !request.body.isEmpty || request.method != .get {
            if !fields.contains(.contentType) { lines.append("Content-Type:") }
            if !fields.contains(.expect) { lines.append("Expect:") }
        }
        // A part of what is coded can't be decoded, nor be put together with parts of what isn't.
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
