#if os(Linux)
internal import CInterceptorsCurl

/// The functions that libcurl calls on the loop's thread, while the loop is inside `curl_multi_perform`. Each passes its
/// arguments to the ``CurlTransfer`` that its context points to, and translates the result for libcurl.
enum CurlCallbacks {
    private static func transfer(_ context: UnsafeMutableRawPointer?) -> CurlTransfer? {
        context.map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    static let onHeader: ccurl_data_callback = { bytes, size, count, context in
        guard let transfer = transfer(context) else { return 0 }
        let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
        return transfer.receiveHeaderLine(line) ? line.count : 0
    }

    static let onBody: ccurl_data_callback = { bytes, size, count, context in
        guard let transfer = transfer(context) else { return 0 }
        let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
        return switch transfer.receive(piece) {
        case .accepted: piece.count
        case .paused: Int(CCURL_WRITEFUNC_PAUSE.rawValue)
        case .refused: 0
        }
    }

    static let onRead: ccurl_data_callback = { bytes, size, count, context in
        guard let transfer = transfer(context) else { return Int(CCURL_READFUNC_ABORT.rawValue) }
        return switch transfer.provide(into: UnsafeMutableRawBufferPointer(start: bytes, count: size * count)) {
        case .bytes(let count): count
        case .wait: Int(CCURL_READFUNC_PAUSE.rawValue)
        case .end: 0
        case .failed: Int(CCURL_READFUNC_ABORT.rawValue)
        }
    }

    static let onPrerequest: ccurl_prerequest_callback = { context, _, _, _, localPort in
        guard let transfer = transfer(context), transfer.allowSending(from: localPort) else {
            return Int32(CCURL_PREREQFUNC_ABORT.rawValue)
        }
        return Int32(CCURL_PREREQFUNC_OK.rawValue)
    }

    static let onProgress: ccurl_progress_callback = { context, _, _, _, _ in
        transfer(context)?.lookForEnd()
        return 0
    }
}
#endif
