#if os(Linux)
internal import CInterceptorsCurl
internal import Synchronization

/// The system's libcurl, and the differences between its versions.
enum CurlLibrary {
    /// Loads libcurl, once for the process, or throws why libcurl is unusable. Tests replace it.
    typealias Loader = @Sendable () throws -> Void

    /// Throws if libcurl is missing or too old.
    static let load: Loader = { try check(ccurl_load()) }

    /// Checks the library at a path without using it afterwards.
    static func loader(ofLibraryAt path: String) -> Loader {
        { try check(ccurl_problem(path)) }
    }

    private static func check(_ reason: UnsafePointer<CChar>?) throws {
        guard let reason else { return }
        throw TransportError(.unsupported, "CurlTransport can't be used: \(String(cString: reason)).")
    }

    /// libcurl's description of its TLS libraries, such as "OpenSSL/3.0.15"; unused ones are in parentheses.
    static var tlsLibraries: String { ccurl_ssl_version().map { String(cString: $0) } ?? "" }

    /// Whether a connection made with HTTP/2 prior knowledge can be reused. In 7.88, each further request on it fails
    /// (github.com/curl/curl/issues/10634).
    static var reusesPriorKnowledge: Bool { !(0x075800..<0x080000).contains(ccurl_version_number()) }

    /// Whether libcurl has no work left when the last transfer has ended. Since 8.9, it closes a connection step by step
    /// while it waits for the network.
    static var closesConnectionsAtOnce: Bool { ccurl_version_number() < 0x080900 }

    /// Whether a handle mustn't be used for a second response, because it keeps a pointer into the last response's head. From 7.84
    /// until 8.1, the next response follows the pointer if its first field line is folded, which corrupts the heap; no reset
    /// clears the pointer (github.com/curl/curl/issues/11101).
    static func keepsPointerIntoLastHead(version: UInt32 = ccurl_version_number()) -> Bool {
        (0x075400..<0x080100).contains(version)
    }

    /// How often libcurl sends a request that kept-alive connections leave unanswered.
    static let tries = 6

    static var hasHTTP2: Bool { ccurl_features() & Int32(CCURL_VERSION_HTTP2.rawValue) != 0 }
}

/// A libcurl easy handle: the settings and the state of one transfer.
///
/// `@unchecked Sendable`: a handle has one owner at a time: the pool, the task that creates a transfer, or the loop. It moves
/// between them through the mutex of the pool or of the loop.
struct EasyHandle: @unchecked Sendable {
    private(set) var pointer: UnsafeMutableRawPointer
    /// The buffer for libcurl's error text, `CURL_ERROR_SIZE` bytes long.
    let errorText: UnsafeMutablePointer<CChar>
    /// The URL as libcurl parsed it.
    private let url: UnsafeMutableRawPointer
    private var target = ""
    /// Whether libcurl uses the parsed URL instead of parsing the text again.
    private(set) var usesReadURL = false

    /// A handle without any settings; `nil` if memory is exhausted.
    init?() {
        guard let pointer = ccurl_easy_init() else { return nil }
        guard let url = ccurl_url_init() else {
            ccurl_easy_cleanup(pointer)
            return nil
        }
        (self.pointer, self.url) = (pointer, url)
        errorText = .allocate(capacity: 256)
        errorText.initialize(repeating: 0, count: 256)
    }

    /// Replaces libcurl's handle with a new one without settings, and frees the old one. Returns `false`, unchanged, if
    /// memory is exhausted.
    mutating func renew() -> Bool {
        guard let next = ccurl_easy_init() else { return false }
        ccurl_easy_cleanup(pointer)
        pointer = next
        return true
    }

    func free() {
        ccurl_easy_cleanup(pointer)
        ccurl_url_cleanup(url)
        errorText.deallocate()
    }

    /// Removes all settings.
    mutating func reset() {
        ccurl_easy_reset(pointer)
        target = ""
    }

    /// Sets the URL, unless it equals the last one, because parsing takes a tenth of the time of a small request. Returns
    /// `false` if libcurl can't parse it.
    mutating func setTarget(_ text: String) -> Bool {
        guard text != target else { return true }
        target = ""
        guard text.withCString({ ccurl_url_set(url, $0, Int32(CCURLU_PATH_AS_IS.rawValue)) }) else { return false }
        // Each transfer gets a copy of the parsed URL, which in 7.88 lacks the zone of an IPv6 address.
        usesReadURL = !text.utf8.contains(UInt8(ascii: "["))
        target = text
        useTarget()
        return true
    }

    /// Sets the last URL on the handle again.
    func useTarget() {
        guard !target.isEmpty else { return }
        // Both, because libcurl falls back on the text when it resends a request.
        set(CCURLOPT_URL, text: target)
        set(CCURLOPT_CURLU, usesReadURL ? url : nil)
    }

    func set(_ option: ccurl_option, _ value: Int) {
        check(ccurl_easy_setopt_long(pointer, Int32(option.rawValue), value))
    }

    /// For options that a supported libcurl may not know.
    func setIfKnown(_ option: ccurl_option, _ value: Int) {
        _ = ccurl_easy_setopt_long(pointer, Int32(option.rawValue), value)
    }

    func set(_ option: ccurl_option, bytes: Int64) {
        check(ccurl_easy_setopt_int64(pointer, Int32(option.rawValue), bytes))
    }

    func set(_ option: ccurl_option, _ value: UnsafeRawPointer?) {
        check(ccurl_easy_setopt_pointer(pointer, Int32(option.rawValue), value))
    }

    /// For options whose text libcurl copies.
    func set(_ option: ccurl_option, text: String) {
        text.withCString { set(option, $0) }
    }

    func set(_ option: ccurl_option, callback: ccurl_data_callback) {
        check(ccurl_easy_setopt_data_callback(pointer, Int32(option.rawValue), callback))
    }

    func int64(_ info: ccurl_info) -> Int64 {
        var value: Int64 = 0
        check(ccurl_easy_getinfo_int64(pointer, Int32(info.rawValue), &value))
        return value
    }

    func long(_ info: ccurl_info) -> Int {
        var value = 0
        check(ccurl_easy_getinfo_long(pointer, Int32(info.rawValue), &value))
        return value
    }

    /// A text that libcurl reports about the transfer; `nil` if libcurl has none.
    func text(_ info: ccurl_info) -> String? {
        var text: UnsafeMutableRawPointer?
        check(ccurl_easy_getinfo_pointer(pointer, Int32(info.rawValue), &text))
        guard let text = text?.assumingMemoryBound(to: CChar.self), text.pointee != 0 else { return nil }
        return String(cString: text)
    }

    // The oldest supported libcurl knows every option used here, so a failure is a mistake in this package.
    private func check(_ code: Int32) {
        assert(code == 0, "libcurl refused an option: \(String(cString: ccurl_easy_strerror(code)))")
    }
}

/// Unused easy handles with the settings that all transfers of a transport share. Creating a handle, or applying all
/// settings, costs more than changing the few that differ.
final class EasyHandlePool: Sendable {
    private static let most = 256

    private let idle = Mutex<[EasyHandle]>([])
    private let configure: @Sendable (EasyHandle) -> Void

    /// - Parameter configure: applies the shared settings to a new handle.
    init(configure: @escaping @Sendable (EasyHandle) -> Void) { self.configure = configure }

    func take() throws -> EasyHandle {
        if let easy = idle.withLock({ $0.popLast() }) { return easy }
        guard let easy = EasyHandle() else {
            throw TransportError(.transportFailed, "libcurl could not make a handle: out of memory.")
        }
        prepare(easy)
        return easy
    }

    /// Returns a handle to the pool.
    ///
    /// - Parameter isClean: whether the next transfer overwrites every setting. If not, the handle is reset.
    func give(_ easy: EasyHandle, isClean: Bool) {
        var easy = easy
        if CurlLibrary.keepsPointerIntoLastHead() {
            guard easy.renew() else { return easy.free() }
            prepare(easy)
            easy.useTarget()
        } else if isClean {
            // The transfer's list is about to be freed. The next transfer sets another one.
            easy.set(CCURLOPT_HTTPHEADER, nil)
        } else {
            easy.reset()
            prepare(easy)
        }
        easy.errorText[0] = 0
        let isKept = idle.withLock { idle in
            guard idle.count < Self.most else { return false }
            idle.append(easy)
            return true
        }
        if !isKept { easy.free() }
    }

    private func prepare(_ easy: EasyHandle) {
        easy.set(CCURLOPT_ERRORBUFFER, easy.errorText)
        configure(easy)
    }

    deinit {
        for easy in idle.withLock({ $0 }) { easy.free() }
    }
}
#endif
