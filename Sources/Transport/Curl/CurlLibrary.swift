#if os(Linux)
internal import CCurl
internal import Synchronization

/// The system's libcurl, as far as it is there.
enum CurlLibrary {
    /// Loads libcurl, once for the process, or throws what makes it unusable. Tests put another in its place.
    typealias Loader = @Sendable () throws -> Void

    /// Throws what makes libcurl unusable: it is missing, or too old.
    static let load: Loader = { try check(ccurl_load()) }

    /// The same of the library at a path, which is not used.
    static func loader(ofLibraryAt path: String) -> Loader {
        { try check(ccurl_problem(path)) }
    }

    private static func check(_ reason: UnsafePointer<CChar>?) throws {
        guard let reason else { return }
        throw TransportError(.unsupported, "CurlTransport can't be used: \(String(cString: reason)).")
    }

    /// Its TLS libraries in its own words, such as "OpenSSL/3.0.15"; those that it has but doesn't use are in parentheses.
    static var tlsLibraries: String { ccurl_ssl_version().map { String(cString: $0) } ?? "" }

    /// Whether a connection that spoke HTTP/2 from the start can be used again: in 7.88 each further request on it fails
    /// (github.com/curl/curl/issues/10634).
    static var reusesPriorKnowledge: Bool { !(0x075800..<0x080000).contains(ccurl_version_number()) }

    /// Whether there is nothing left to do when the last transfer has ended. Since 8.9 it takes its leave of a connection step
    /// by step, while it waits for the network.
    static var closesConnectionsAtOnce: Bool { ccurl_version_number() < 0x080900 }

    /// Whether a handle that has received a response keeps a pointer into it, which the next response follows if its first
    /// field line is folded: from 7.84 until 8.1 that corrupts the heap, and no reset clears it (github.com/curl/curl/issues/11101).
    static func keepsPointerIntoLastHead(version: UInt32 = ccurl_version_number()) -> Bool {
        (0x075400..<0x080100).contains(version)
    }

    /// How often it sends what kept-alive connections leave unanswered.
    static let tries = 6

    static var hasHTTP2: Bool { ccurl_features() & Int32(CCURL_VERSION_HTTP2.rawValue) != 0 }
}

/// A libcurl easy handle: the settings and the state of one transfer.
///
/// `@unchecked Sendable`: it is in one place at a time, in the pool, with the task that sets a transfer up, or with the
/// loop, and goes from one to the other through the mutex of the pool or of the loop.
struct EasyHandle: @unchecked Sendable {
    private(set) var pointer: UnsafeMutableRawPointer
    /// Where libcurl says what went wrong, `CURL_ERROR_SIZE` bytes.
    let errorText: UnsafeMutablePointer<CChar>
    /// The URL as libcurl has read it, and its text.
    private let url: UnsafeMutableRawPointer
    private var target = ""
    /// Whether libcurl is spared to read the text.
    private(set) var usesReadURL = false

    /// A handle without any setting; `nil` where memory is out.
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

    /// Takes all settings back by a handle in the place of the last one, which is freed. Returns whether there was memory for it.
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

    /// Takes all settings back.
    mutating func reset() {
        ccurl_easy_reset(pointer)
        target = ""
    }

    /// Sets the URL, unless it is the last one: to read it takes libcurl a tenth of the time of a small request. Returns
    /// whether libcurl can read it.
    mutating func setTarget(_ text: String) -> Bool {
        guard text != target else { return true }
        target = ""
        guard text.withCString({ ccurl_url_set(url, $0, Int32(CCURLU_PATH_AS_IS.rawValue)) }) else { return false }
        // Each transfer gets a copy of what was read, which in 7.88 lacks the zone of an IPv6 address.
        usesReadURL = !text.utf8.contains(UInt8(ascii: "["))
        target = text
        useTarget()
        return true
    }

    /// Sets the last URL again.
    func useTarget() {
        guard !target.isEmpty else { return }
        // Both: libcurl falls back on the text when it sends a request again by itself.
        set(CCURLOPT_URL, text: target)
        set(CCURLOPT_CURLU, usesReadURL ? url : nil)
    }

    func set(_ option: ccurl_option, _ value: Int) {
        check(ccurl_easy_setopt_long(pointer, Int32(option.rawValue), value))
    }

    /// For options that a libcurl which is accepted need not know.
    func setIfKnown(_ option: ccurl_option, _ value: Int) {
        _ = ccurl_easy_setopt_long(pointer, Int32(option.rawValue), value)
    }

    func set(_ option: ccurl_option, bytes: Int64) {
        check(ccurl_easy_setopt_int64(pointer, Int32(option.rawValue), bytes))
    }

    func set(_ option: ccurl_option, _ value: UnsafeRawPointer?) {
        check(ccurl_easy_setopt_pointer(pointer, Int32(option.rawValue), value))
    }

    /// For options that libcurl copies.
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

    // Every option used is older than the oldest libcurl that is accepted.
    private func check(_ code: Int32) {
        assert(code == 0, "libcurl refused an option: \(String(cString: ccurl_easy_strerror(code)))")
    }
}

/// Easy handles that are not in use, with the settings that all transfers of a transport share: making one, or all of its
/// settings, costs more than the few that differ.
final class EasyHandlePool: Sendable {
    private static let most = 256

    private let idle = Mutex<[EasyHandle]>([])
    private let configure: @Sendable (EasyHandle) -> Void

    /// - Parameter configure: sets on a new handle what all transfers share.
    init(configure: @escaping @Sendable (EasyHandle) -> Void) { self.configure = configure }

    func take() throws -> EasyHandle {
        if let easy = idle.withLock({ $0.popLast() }) { return easy }
        guard let easy = EasyHandle() else {
            throw TransportError(.other, "libcurl could not make a handle: out of memory.")
        }
        prepare(easy)
        return easy
    }

    /// Takes a handle back.
    ///
    /// - Parameter isClean: whether it has no setting that the next transfer doesn't overwrite. Others are reset.
    func give(_ easy: EasyHandle, isClean: Bool) {
        var easy = easy
        if CurlLibrary.keepsPointerIntoLastHead() {
            guard easy.renew() else { return easy.free() }
            prepare(easy)
            easy.useTarget()
        } else if isClean {
            // The next transfer has a list of its own; until then, none that is gone.
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
