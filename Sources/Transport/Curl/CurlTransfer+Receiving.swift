#if os(Linux)
internal import CInterceptorsCurl

// Callbacks of libcurl, on the loop's thread.
extension CurlTransfer {
    /// Receives one line of a head or of the trailers. Returns `false` to end the transfer.
    func receiveHeaderLine(_ line: UnsafeRawBufferPointer) -> Bool {
        touch()
        let end = head.receive(line)
        if let fault = headFault {
            failure = TransportError(.invalidResponse, fault)
            return false
        }
        switch end {
        case .none: return true
        case .interimHead:
            if tellsInterim { add(interim: head.bytes) }
            return true
        case .finalHead: return receiveHead()
        }
    }

    /// The reason why the response's heads or trailers can't be accepted, as a sentence; `nil` if they can.
    private var headFault: String? {
        if head.isTooLong {
            return head.isComplete
                ? "The trailers of the response are longer than 256 KB."
                : "The head of the response is longer than 256 KB."
        }
        return head.isEndlesslyInterim ? "The server sent more than 1,000 interim responses." : head.framing.fault
    }

    /// Acts on the complete head. Returns `false` to end the transfer.
    private func receiveHead() -> Bool {
        connection = HTTPConnectionInfo(easy, for: request)
        if decodesContent, head.hasContentEncoding, hasContent, let codings = head.codings, !codings.isEmpty {
            decoding = PausableDecoder(codings)
        }
        let isChecked =
            !head.isHTTP1 || iteration?.sockets.noteHTTP1(from: localPort, through: handshake?.proxySSL) != false
        if !isChecked || head.endsConnection { forbidReuse() }
        let isRefusal = upload != nil && easy.long(CCURLINFO_RESPONSE_CODE) >= 300
        if isRefusal { iteration?.refused.append(self) }
        if head.isHTTP1, let upload, isRefusal && upload.length != nil || expectsContinue && upload.hasSentNothing {
            refuseContent()
        }
        if canShareConnection, !head.isHTTP1 { iteration?.line.noteMultiplexing(host: host) }
        watchEndIfNeeded()
        noteSurplus()
        noteRedirect()
        if let download {
            let trailers = hasContent ? download.trailers : HTTPTrailers([:])
            finish(.success(reply(body: download.body(length: hasContent ? contentLength : 0), trailers)))
        } else if hasContent, let limit = bodyMode.bufferLimit, let length = contentLength {
            guard length <= Int64(limit) else {
                failure = .bodyTooLarge(limit: limit)
                return false
            }
            gathered.reserve(Int(length))
        } else if decoding != nil, let limit = bodyMode.bufferLimit {
            reserveForDecoded(upTo: limit)
        }
        return true
    }

    private func reserveForDecoded(upTo limit: Int) {
        // Text shrinks to about a quarter. Growing the buffer step by step would copy it, which took 1.4 times the CPU time.
        let coded = easy.int64(CCURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
        if coded > 0 { gathered.reserve(min(Int(min(coded, Self.reservedCodedLength)) * 4, limit)) }
    }

    // A longer announced length reserves no more: a server may announce anything.
    private static let reservedCodedLength: Int64 = 64 << 20

    typealias Receipt = PausableDecoder.Receipt

    /// Receives a piece of the body as it came.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Receipt {
        touch()
        guard head.isComplete else {
            // There is no response that the content belongs to, for instance after a 101 to a protocol that the client didn't
            // ask for.
            failure = TransportError(.invalidResponse, "Content came without the head of a final response.")
            return .refused
        }
        guard let decoding else { return take(bytes) }
        do {
            let receipt = try decoding.receive(bytes) { take($0) }
            // The end of a coding may bring no decoded bytes.
            noteSurplus()
            return receipt
        } catch let error as ContentDecodingError {
            failure = error.transportError
        } catch {
            failure = TransportError(.transportFailed, "The content could not be decoded.")
        }
        return .refused
    }

    /// The error of content that ended before its coding was complete; `nil` if the content is complete.
    var unfinishedContent: TransportError? {
        do {
            try decoding?.finish()
            return nil
        } catch {
            return (error as? ContentDecodingError)?.transportError
        }
    }

    /// Receives a decoded piece of the body.
    private func take(_ bytes: UnsafeRawBufferPointer) -> Receipt {
        if let download {
            switch download.offer(bytes) {
            case .accepted: break
            case .awaited: iteration?.awaited.append(download)
            case .full:
                if let iteration { timeLimits.pause(true, at: iteration.now) }
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
                    .transportFailed,
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

    private func noteRedirect() {
        guard followsRedirects, download == nil, hasContent,
            HTTPResponse.Status(code: easy.long(CCURLINFO_RESPONSE_CODE))?.canRedirect == true,
            let parsed = WireHead(parsing: head.bytes), HTTPResponse.isRedirect(parsed.status, parsed.fields)
        else { return }
        isFollowedRedirect = true
        timeLimits.shortenIdle()
        iteration?.hasEarlierDeadline = true
    }

    func touch() {
        if let iteration { timeLimits.note(at: iteration.now) }
    }

    var contentLength: Int64? {
        let length = easy.int64(CCURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
        return length >= 0 && !isDecoded && !mayBeDropped ? length : nil
    }

    private var isDecoded: Bool { decoding != nil }

    var hasContent: Bool {
        HTTPResponse.hasContent(status: easy.long(CCURLINFO_RESPONSE_CODE), answering: request.method)
    }

    /// Removes and returns the buffered content.
    func takeBody() -> HTTPBody { contentFailure.map { .unreadable($0) } ?? HTTPBody(gathered.take()) }

    /// The trailer fields of a transfer that has ended; `nil` if some may be missing.
    var trailerFields: HTTPFields? {
        guard head.trailers.isEmpty else { return hasSeenTrailers ? WireHead.fields(parsing: head.trailers) : nil }
        return hasSeenTrailers && !endsBeforeTrailers ? [:] : nil
    }

    /// Whether libcurl ends the transfer with the last byte, whatever follows: over HTTP/2, where trailers may follow content
    /// of an announced length (RFC 9113 §8.1).
    private var endsBeforeTrailers: Bool {
        !head.isHTTP1 && hasContent && easy.int64(CCURLINFO_CONTENT_LENGTH_DOWNLOAD_T) >= 0
    }

    func reply(body: HTTPBody, _ trailers: HTTPTrailers?) -> CurlReply {
        CurlReply(
            head: head.bytes,
            body: body,
            trailers: trailers,
            timings: TransferTimings(easy),
            connection: connection,
            isDecoded: isDecoded || isContentDropped
        )
    }
}
#endif
