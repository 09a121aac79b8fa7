internal import Foundation
internal import Interceptors
internal import InterceptorsSyntax

/// The content of a part's state file.
///
/// The record is written twice, in turn to two slots of the file. A process that is killed while it writes a slot therefore
/// leaves the other slot valid. A checksum reveals a half-written slot.
struct DownloadRecord: Codable, Sendable, Hashable {
    /// Counts the writes: of two valid slots, the later one counts.
    var number = 0
    /// The digest of the URL that was asked for. The URL itself may hold secrets.
    var source: String
    var representation: Representation
    /// The number of bytes from the start that are certainly on the disk.
    var safe: Int64 = 0

    /// The size of a slot in bytes, and the offset of the second slot. A slot has room for a long validator.
    static let slotSize = 2_048

    /// The offset of this record's slot.
    var offset: Int64 { Int64(number % 2 * Self.slotSize) }

    /// The digest of a URL without its fragment, which isn't sent.
    static func source(of url: URL) -> String {
        PortableSHA256.digest(Array(url.absoluteString.utf8.prefix { $0 != UInt8(ascii: "#") })).hexadecimal
    }

    /// The slot's bytes, or `nil` if the record doesn't fit.
    func slot() -> [UInt8]? {
        guard let json = try? JSONEncoder().encode(self) else { return nil }
        let text = Array("\(Self.checksum(json)) ".utf8) + json
        guard text.count <= Self.slotSize else { return nil }
        return text + [UInt8](repeating: UInt8(ascii: "\n"), count: Self.slotSize - text.count)
    }

    private static func checksum(_ bytes: Data) -> String { PortableSHA256.digest(Array(bytes)).prefix(8).hexadecimal }
}

extension DownloadRecord {
    /// The later record of a state file; `nil` if no slot is valid.
    init?(file bytes: [UInt8]) {
        let records = stride(from: 0, to: bytes.count, by: Self.slotSize).compactMap { start in
            Self(slot: bytes[start..<min(start + Self.slotSize, bytes.count)])
        }
        guard let latest = records.max(by: { $0.number < $1.number }) else { return nil }
        self = latest
    }

    private init?(slot: ArraySlice<UInt8>) {
        let parts = slot.split(separator: UInt8(ascii: " "), maxSplits: 1)
        guard parts.count == 2 else { return nil }
        let json = Data(parts[1].prefix { $0 != UInt8(ascii: "\n") })
        guard Self.checksum(json) == String(decoding: parts[0], as: UTF8.self),
            let record = try? JSONDecoder().decode(Self.self, from: json),
            // The next record's number mustn't overflow.
            (0..<Int.max).contains(record.number), record.safe >= 0
        else { return nil }
        self = record
    }
}
