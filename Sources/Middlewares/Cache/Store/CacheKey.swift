public import Foundation
internal import HTTPSyntax
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
    let hash: Int

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
    //
    // Before the path of such a one stands nothing but a host: no user, no password.
    static func plain(_ text: String) -> String? {
        var text = text
        return text.withUTF8 { bytes in
            guard let (start, port) = startOfPlainHost(UnsafeRawBufferPointer(bytes)) else { return nil }
            var end = start
            while end < bytes.count, isOfPlainHost(bytes[end]) { end += 1 }
            guard end > start, end < bytes.count else { return nil }
            let fragment = self.fragment(in: bytes) ?? bytes.count
            if bytes[end] == UInt8(ascii: "/") {
                return joined(bytes[..<end], port, bytes[end..<fragment])
            }
            guard let path = endOfPlainPort(bytes, end), bytes[path] == UInt8(ascii: "/") else { return nil }
            return String(decoding: bytes[..<fragment], as: UTF8.self)
        }
    }

    private static func joined(
        _ origin: Slice<UnsafeBufferPointer<UInt8>>,
        _ port: StaticString,
        _ target: Slice<UnsafeBufferPointer<UInt8>>
    ) -> String {
        String(unsafeUninitializedCapacity: origin.count + port.utf8CodeUnitCount + target.count) { key in
            let port = UnsafeBufferPointer(start: port.utf8Start, count: port.utf8CodeUnitCount)
            let host = key.initialize(fromContentsOf: origin)
            let path = key[host...].initialize(fromContentsOf: port)
            return key[path...].initialize(fromContentsOf: target)
        }
    }

    /// Where a port ends that is written as it would be anyway; `nil` if there is none, or nothing after it.
    private static func endOfPlainPort(_ bytes: UnsafeBufferPointer<UInt8>, _ colon: Int) -> Int? {
        guard bytes[colon] == UInt8(ascii: ":") else { return nil }
        var (place, port) = (colon + 1, 0)
        while place < bytes.count, bytes[place] &- UInt8(ascii: "0") < 10, port < 65_536 {
            port = port * 10 + Int(bytes[place] - UInt8(ascii: "0"))
            // A number that is written with zeros in front.
            if port == 0 { return nil }
            place += 1
        }
        return place > colon + 1 && place < bytes.count && port < 65_536 ? place : nil
    }

    private static func fragment(in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard let start = bytes.baseAddress, let found = memchr(start, 0x23, bytes.count) else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(start)
    }

    /// Where the host begins, and the port that goes without saying; `nil` unless the scheme is in lower case.
    private static func startOfPlainHost(_ bytes: UnsafeRawBufferPointer) -> (Int, port: StaticString)? {
        guard bytes.count >= 8 else { return nil }
        // Eight letters at once: one by one they are a third of what it takes to make a key.
        switch UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)) {
        case 0x6874_7470_733A_2F2F: return (8, ":443")  // https://
        case 0x6874_7470_3A2F_2F00...0x6874_7470_3A2F_2FFF: return (7, ":80")  // http://, and a letter
        default: return nil
        }
    }

    private static func isOfPlainHost(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10 || byte == UInt8(ascii: ".")
            || byte == UInt8(ascii: "-")
    }

    init(partition: String, text url: String) {
        self.partition = partition
        self.url = url
        // Of the bytes: texts of different bytes that a String takes for the same would share one.
        var hasher = Hasher()
        if !partition.isEmpty {
            hasher.combine(partition.utf8.count)
            Self.combine(partition, into: &hasher)
        }
        Self.combine(url, into: &hasher)
        hash = hasher.finalize()
    }

    private static func combine(_ text: String, into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// Both parts in one text, from which each can be told again: no choice of one can imitate another's key.
    public var text: String { "\(partition.utf8.count):\(partition):\(url)" }
}

extension CacheKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The URL, with what is secret in it redacted. Whose entry it is isn't said.
    public var description: String { URL(string: url).map { Redaction.standard.string(for: $0) } ?? "a URL" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// A mirror without secrets.
    public var customMirror: Mirror { Mirror(self, children: ["url": description], displayStyle: .struct) }
}
