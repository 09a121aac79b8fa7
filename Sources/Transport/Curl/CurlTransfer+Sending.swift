#if os(Linux)
internal import CInterceptorsCurl

// Callbacks of libcurl, on the loop's thread.
extension CurlTransfer {
    /// Whether the request may be sent on the chosen connection. libcurl calls this again only if it resends the request,
    /// after a kept-alive connection turned out to be closed.
    func allowSending(from localPort: Int32) -> Bool {
        let connects = easy.long(CCURLINFO_NUM_CONNECTS)
        defer { self.connects = connects }
        self.localPort = localPort
        if connects == self.connects, iteration?.sockets.isRetired(localPort) == true {
            failure = .retiredConnection
            return false
        }
        if connects == self.connects, isUnusable(localPort) {
            // A new connection can't be unusable, and trying a third time might never end.
            if wantsFreshConnection { failure = .staleConnection } else { needsFreshConnection = true }
            return false
        }
        attempts += 1
        touch()
        if canShareConnection, CurlTLS.speaksHTTP2(easy) { iteration?.line.noteMultiplexing(host: host) }
        upload?.start()
        guard attempts > 1 else { return true }
        // libcurl counts the tries of a handle, across transfers, until the handle is reset.
        leavesHandleClean = false
        guard !isRepeatable else { return true }
        failure = .staleConnection
        return false
    }

    /// Whether a kept-alive connection was closed by the server, or holds bytes that no request asked for.
    private func isUnusable(_ localPort: Int32) -> Bool {
        guard let sockets = iteration?.sockets, sockets.speaksHTTP1(from: localPort) else { return false }
        // OpenSSL may hold bytes of a TLS record that the socket no longer has.
        return sockets.isReadable(from: localPort) || CurlTLS.hasUnreadBytes(easy)
    }

    /// Makes libcurl open a connection instead of choosing one.
    func useFreshConnection() {
        (needsFreshConnection, wantsFreshConnection) = (false, true)
        (leavesHandleClean, connects) = (false, 0)
        easy.errorText[0] = 0
        easy.set(CCURLOPT_FRESH_CONNECT, 1)
    }

    /// Copies the next piece of a streamed request body.
    func provide(into buffer: UnsafeMutableRawBufferPointer) -> CurlUpload.Piece {
        touch()
        guard let upload, !isContentRefused else { return .end }
        return upload.read(into: buffer)
    }

    /// A final response came before the content was asked for, so no content follows. The connection isn't reused, because
    /// the server might take the next request for the content (RFC 9110 §10.1.1).
    func refuseContent() {
        isContentRefused = true
        forbidReuse()
    }

    /// Makes libcurl close the connection when no transfer uses it any more.
    func forbidReuse() {
        leavesHandleClean = false
        easy.set(CCURLOPT_FORBID_REUSE, 1)
    }
}
#endif
