#if os(Linux)
internal import CCurl

// Called by libcurl, on the loop's thread.
extension CurlTransfer {
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
    func refuseContent() {
        isContentRefused = true
        easy.set(CCURLOPT_FORBID_REUSE, 1)
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
