public import Foundation
internal import Interceptors

/// What a stored response is found by: the target URI and the partition it belongs to (RFC 9111 §2).
///
/// The query is always part of it, the fragment never. Scheme and host are in lower case, the port is written out, an
/// empty path is `/`; nothing else is changed: `%7E` and `~` are two keys, since only the server knows whether they are one.
public struct CacheKey: Sendable, Hashable {
    /// Whose entry it is: no request of another partition ever gets it. Empty for those that name nobody.
    public let partition: String
    /// The target URI.
    public let url: String
    // Made once: a request that is not answered from the store is looked for in several tables.
    private let hash: Int

    /// The key of an absolute http or https URL, otherwise `nil`.
    public init?(url: URL, partition: String = "") {
        guard let text = Self.plain(url.absoluteString) ?? Self.taken(from: url) else { return nil }
        self.init(partition: partition, text: text)
    }

    /// Compares both parts byte by byte: what `String` takes for equal may be another's.
    public static func == (left: Self, right: Self) -> Bool {
        left.hash == right.hash && ASCII.isSame(left.url, right.url) && ASCII.isSame(left.partition, right.partition)
    }

    /// Hashes both parts.
    public func hash(into hasher: inout Hasher) { hasher.combine(hash) }

    static func taken(from url: URL) -> String? {
        guard let origin = Origin(url) else { return nil }
        let path = url.path(percentEncoded: true)
        let query = url.query(percentEncoded: true).map { "?" + $0 } ?? ""
        return origin.description + (path.isEmpty ? "/" : path) + query
    }

    // Most URLs are written such that nothing in them needs to be parsed, which takes longer than all else in a look-up.
    private static func plain(_ text: String) -> String? {
        var text = text
        return text.withUTF8 { bytes in
            let isSecure = bytes.starts(with: "https://".utf8)
            guard isSecure || bytes.starts(with: "http://".utf8) else { return nil }
            let start = isSecure ? 8 : 7
            var end = start
            while end < bytes.count, isOfPlainHost(bytes[end]) { end += 1 }
            guard end > start, end < bytes.count, bytes[end] == UInt8(ascii: "/") else { return nil }
            let fragment = bytes[end...].firstIndex(of: UInt8(ascii: "#")) ?? bytes.count
            let port: StaticString = isSecure ? ":443" : ":80"
            return String(unsafeUninitializedCapacity: fragment + port.utf8CodeUnitCount) { key in
                let base = UnsafeMutableRawBufferPointer(key)
                base.copyMemory(from: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[..<end]))
                let afterHost = UnsafeMutableRawBufferPointer(rebasing: base[end...])
                afterHost.copyMemory(
                    from: UnsafeRawBufferPointer(start: port.utf8Start, count: port.utf8CodeUnitCount)
                )
                let afterPort = UnsafeMutableRawBufferPointer(rebasing: afterHost[port.utf8CodeUnitCount...])
                afterPort.copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[end..<fragment])
                )
                return fragment + port.utf8CodeUnitCount
            }
        }
    }

    private static func isOfPlainHost(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10 || byte == UInt8(ascii: ".")
            || byte == UInt8(ascii: "-")
    }

    init(partition: String, text url: String) {
        self.partition = partition
        self.url = url
        var hasher = Hasher()
        if !partition.isEmpty { hasher.combine(partition) }
        hasher.combine(url)
        hash = hasher.finalize()
    }

    /// Both parts in one text, from which each can be told again: no choice of one can imitate another's key.
    public var text: String { "\(partition.utf8.count):\(partition):\(url)" }
}
