#if os(Linux)
internal import CInterceptorsCurl
internal import Foundation

// Creates a transfer: all settings of its handle.
extension CurlEngine {
    private static let inlineBodyLimit = 64 * 1024

    /// The time limits of a request.
    func timeouts(of request: HTTPRequest) -> Timeouts { request.context.timeouts ?? configuration.timeouts }

    /// - Parameters:
    ///   - calledAt: the start of the call, if this is not its first exchange.
    ///   - isAfresh: whether to use a new connection, because an exchange came to nothing before.
    func makeTransfer(
        _ request: HTTPRequest,
        on loop: CurlLoop,
        calledAt: Duration?,
        isAfresh: Bool
    ) throws -> CurlTransfer {
        guard request.method != .connect, request.method != .head || request.body.isEmpty else {
            throw TransportError(.unsupported, "CONNECT, and HEAD with content, can't be sent.", request: request)
        }
        var easy = try loop.pool.take()
        guard easy.setTarget(request.url.absoluteString) else {
            easy.free()
            throw TransportError(.unsupportedURL, "libcurl can't read the URL.", request: request)
        }
        let transfer = CurlTransfer(
            easy: easy,
            request: request,
            proxy: configuration.proxy,
            timeLimits: TimeLimits(timeouts(of: request), calledAt: calledAt),
            upload: Self.needsUpload(request) ? Self.upload(of: request) : nil
        )
        transfer.isRepetition = isAfresh
        if transfer.bodyMode.bufferLimit == nil { transfer.download = makeDownload(for: transfer, on: loop) }
        do {
            try setConnection(easy, request, transfer, isShared: loop === self.loop)
        } catch {
            easy.free()
            throw error
        }
        if isAfresh { easy.set(CCURLOPT_FRESH_CONNECT, 1) }
        let isPlainGet = setMethodAndBody(easy, request, transfer)
        setFields(easy, request, transfer)
        setContexts(easy, transfer)
        // The next transfer overwrites all settings made here. If there are others, the handle is reset before reuse.
        transfer.leavesHandleClean =
            isPlainGet && !isAfresh && transfer.handshake == nil && transfer.decodesContent
            && transfer.download == nil
        return transfer
    }

    private func makeDownload(for transfer: CurlTransfer, on loop: CurlLoop) -> CurlDownload {
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

    private static func upload(of request: HTTPRequest) -> CurlUpload {
        CurlUpload(length: request.body.length, onProgress: progress(of: request))
    }

    /// Called with each piece of the body before libcurl sends it.
    private static func progress(of request: HTTPRequest) -> (@Sendable (TransferProgress) -> Void)? {
        let progress = request.context.uploadProgress
        guard let taken = request.context.takenBytes else { return progress }
        return { report in
            taken(report.completed)
            progress?(report)
        }
    }

    /// Whether the body is sent piece by piece. The alternative, one block of memory, has no progress reports.
    private static func needsUpload(_ request: HTTPRequest) -> Bool {
        guard !request.body.isEmpty else { return false }
        // The server decides whether it wants the content, so the content must not go out with the head.
        if request.expectsContinue { return true }
        guard let bytes = request.body.data else { return true }
        return bytes.count > inlineBodyLimit || request.context.uploadProgress != nil
    }

    /// Sets the options that all transfers of a transport share.
    static func setCommon(_ easy: EasyHandle, _ configuration: CurlTransport.Configuration) {
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
        if !configuration.versions.negotiates || CurlLibrary.hasHTTP2 {
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
        easy.set(CCURLOPT_HEADERFUNCTION, callback: CurlCallbacks.onHeader)
        easy.set(CCURLOPT_WRITEFUNCTION, callback: CurlCallbacks.onBody)
        _ = ccurl_easy_setopt_prerequest_callback(easy.pointer, CurlCallbacks.onPrerequest)
        SocketLimits(configuration.timeouts).set(on: easy)
    }

    /// Sets how the handle finds a connection, and how it verifies the peer.
    private func setConnection(
        _ easy: EasyHandle,
        _ request: HTTPRequest,
        _ transfer: CurlTransfer,
        isShared: Bool
    ) throws {
        // Makes libcurl wait for a connection that it can share, rather than open another one.
        let isTLS = request.url.isHTTPS
        let versions = configuration.versions
        let canShare =
            isShared
            && (versions.negotiates && isTLS || versions == .http2PriorKnowledge && !versions.needsFreshConnections)
        easy.set(CCURLOPT_PIPEWAIT, canShare ? 1 : 0)
        transfer.canShareConnection = canShare
        // One TLS record. libcurl reads what has come before each piece that it sends, but an early response is lost if the
        // connection breaks within a piece.
        if isTLS, !request.body.isEmpty { easy.setIfKnown(CCURLOPT_UPLOAD_BUFFERSIZE, 16 * 1024) }
        // The connection to a proxy may use TLS too.
        guard isTLS || configuration.proxy != .none else { return }
        transfer.handshake = try tls.prepareHandshake(easy, for: request, through: configuration.proxy)
    }

    /// Returns `true` for a GET without content.
    private func setMethodAndBody(_ easy: EasyHandle, _ request: HTTPRequest, _ transfer: CurlTransfer) -> Bool {
        let method = request.method
        if transfer.upload != nil {
            easy.set(CCURLOPT_UPLOAD, 1)
            // Without a length, HTTP/1.1 sends chunks.
            easy.set(CCURLOPT_INFILESIZE_LARGE, bytes: request.body.length ?? -1)
        } else if !request.body.isEmpty || method == .post || method == .put || method == .patch {
            // A file or a stream gets here only if it is empty.
            let bytes = request.body.data ?? Data()
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
        let fields = request.headers
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
        let ownLine = fields.contains(.userAgent) ? nil : UserAgent.line
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
        easy.set(CCURLOPT_READFUNCTION, callback: CurlCallbacks.onRead)
    }
}
#endif
