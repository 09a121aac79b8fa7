#if os(Linux)
internal import CInterceptorsCurl

// Decides how a transfer ends.
extension CurlTransfer {
    /// Watches the end of content that ends with its TLS connection, which is complete only if TLS signals its end (RFC 9112
    /// §9.8). libcurl doesn't check this, and releases the connection before it reports the transfer's end. Its progress
    /// callback runs after each read, though, so the callback checks.
    func watchEndIfNeeded() {
        guard head.isHTTP1, request.url.isHTTPS, hasContent, head.framing.endsWithConnection else { return }
        (mustSeeEnd, leavesHandleClean) = (true, false)
        easy.set(CCURLOPT_XFERINFODATA, Unmanaged.passUnretained(self).toOpaque())
        _ = ccurl_easy_setopt_progress_callback(easy.pointer, CurlCallbacks.onProgress)
        easy.set(CCURLOPT_NOPROGRESS, 0)
    }

    func lookForEnd() { hasSeenEnd = hasSeenEnd || CurlTLS.hasEnded(easy) }

    /// Whether the connection, and the content with it, ended without TLS signalling the end.
    var isCut: Bool { mustSeeEnd && !hasSeenEnd }

    /// Whether libcurl ended the transfer because of a 417, after which it would send the request again. The content is lost.
    func isExpectationRefused(_ code: Int32) -> Bool {
        guard code == CCURLE_TOO_MANY_REDIRECTS.rawValue, head.isComplete else { return false }
        isContentDropped = true
        return true
    }

    /// Whether the complete response arrived, although the server then refused or lost the rest of the request.
    func isAnsweredDespite(_ code: Int32) -> Bool {
        switch ccurl_code(UInt32(bitPattern: code)) {
        case CCURLE_SEND_ERROR, CCURLE_RECV_ERROR, CCURLE_HTTP2, CCURLE_HTTP2_STREAM:
            failure == nil && upload?.failure == nil && isResponseComplete
        default: false
        }
    }

    /// Whether a failure of the content leaves the response usable: a redirect to follow (RFC 9110 §15.4), whose content
    /// nobody needs. Its body will throw the error.
    func survives(_ error: any Error) -> Bool {
        guard isFollowedRedirect, upload?.failure == nil, let error = error as? TransportError else { return false }
        contentFailure = error.about(request)
        leavesHandleClean = false
        return true
    }

    /// Whether the transfer was silent for a second before its cancellation, so that its connection may be dead.
    var mayWaitInVain: Bool {
        guard let iteration, !head.isComplete, !timeLimits.isPaused else { return false }
        return timeLimits.silence(at: iteration.now) >= .seconds(1)
    }

    /// Whether the response is complete, even if the request is not. For chunked content, libcurl reports this only when the
    /// transfer ends.
    ///
    /// libcurl counts bytes before it hands them over, so while the transfer is paused, counted bytes may be held back.
    var isResponseComplete: Bool {
        guard head.isComplete, !timeLimits.isPaused else { return false }
        guard hasContent, !mayBeDropped else { return true }
        let length = easy.int64(CCURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
        return length >= 0 && easy.int64(CCURLINFO_SIZE_DOWNLOAD_T) >= length
    }

    func noteSurplus() {
        guard upload != nil, isResponseComplete else { return }
        timeLimits.shortenIdle()
        iteration?.hasEarlierDeadline = true
    }

    /// Whether libcurl may drop the content: for a 417, it would send the request again without its expectation.
    var mayBeDropped: Bool { expectsContinue && easy.long(CCURLINFO_RESPONSE_CODE) == 417 }
}
#endif
