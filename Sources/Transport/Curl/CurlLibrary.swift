#if os(Linux)
internal import CCurl
internal import Synchronization

/// The system's libcurl, as far as it is there.
enum CurlLibrary {
    /// Throws what makes libcurl unusable: it is missing, or too old.
    static func load() throws {
        guard let reason = ccurl_load() else { return }
        throw TransportError(.unsupported, "CurlTransport can't be used: \(String(cString: reason)).")
    }

    static var hasHTTP2: Bool { ccurl_features() & Int32(CCURL_VERSION_HTTP2.rawValue) != 0 }
}

/// A libcurl easy handle: the settings and the state of one transfer. One thread at a time uses it.
struct EasyHandle {
    let pointer: UnsafeMutableRawPointer

    func set(_ option: ccurl_option, _ value: Int) {
        check(ccurl_easy_setopt_long(pointer, Int32(option.rawValue), value))
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

/// Easy handles that are not in use. Making one costs more than resetting it.
final class EasyHandlePool: Sendable {
    private static let most = 256

    // Raw pointers as bit patterns, since a pointer is not Sendable; a handle is in one place at a time.
    private let idle = Mutex<[UInt]>([])

    func take() throws -> EasyHandle {
        if let bits = idle.withLock({ $0.popLast() }), let pointer = UnsafeMutableRawPointer(bitPattern: bits) {
            return EasyHandle(pointer: pointer)
        }
        guard let pointer = ccurl_easy_init() else {
            throw TransportError(.other, "libcurl could not make a handle: out of memory.")
        }
        return EasyHandle(pointer: pointer)
    }

    func give(_ easy: EasyHandle) {
        ccurl_easy_reset(easy.pointer)
        let isKept = idle.withLock { idle in
            guard idle.count < Self.most else { return false }
            idle.append(UInt(bitPattern: easy.pointer))
            return true
        }
        if !isKept { ccurl_easy_cleanup(easy.pointer) }
    }

    deinit {
        for bits in idle.withLock({ $0 }) { ccurl_easy_cleanup(UnsafeMutableRawPointer(bitPattern: bits)) }
    }
}
#endif
