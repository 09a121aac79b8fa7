#if os(Linux)
internal import CCurl

// How a transfer has ended, or is about to.
extension CurlTransfer {
    /// Content that ends with its connection is whole only if TLS says so (RFC 9112 §9.8). libcurl doesn't ask, and lets the
    /// connection go before it says that the transfer has ended, but it calls this after each reading.
    func watchEndIfNeeded() {
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

    /// Makes the response the answer although its content failed, if it is a redirect that is followed (RFC 9110 §15.4). Returns
    /// whether it is.
    func survives(_ error: any Error) -> Bool {
        guard isFollowedRedirect, upload?.failure == nil, let error = error as? TransportError else { return false }
        contentFailure = error.about(request)
        leavesHandleClean = false
        return true
    }

    /// Whether it was cancelled after a silence in which its connection may have died.
    var mayWaitInVain: Bool {
        guard let turn, !head.isComplete, !isReceivingPaused else { return false }
        return turn.now - lastActivity >= .seconds(1)
    }

    /// Whether the response is whole, though the request may not be. Of a chunked one libcurl tells only with the transfer's end.
    ///
    /// libcurl counts bytes before it hands them over, so while the transfer is paused, bytes that it counted may be held back.
    var isResponseComplete: Bool {
        guard head.isComplete, !isReceivingPaused else { return false }
        guard hasContent, !mayBeDropped else { return true }
        let length = easy.int64(CCURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
        return length >= 0 && easy.int64(CCURLINFO_SIZE_DOWNLOAD_T) >= length
    }

    func noteSurplus() {
        if upload != nil, isResponseComplete { turn?.hasEarlierDeadline = true }
    }

    /// Whether libcurl may drop the content: it would send a refused expectation again.
    var mayBeDropped: Bool { expectsContinue && easy.long(CCURLINFO_RESPONSE_CODE) == 417 }
}

private let onProgress: ccurl_progress_callback = { context, _, _, _, _ in
    if let context { Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue().lookForEnd() }
    return 0
}
#endif
