internal import Foundation

/// A list of pins with its signature, verified.
struct PinList: Sendable {
    static let sizeLimit = 1 << 20

    let serial: Int64
    let expires: Date
    let pins: [HostPattern: [CertificatePin]]
    /// As they were fetched, to be kept.
    let content: Data
    let signature: Data

    private struct Fields: Decodable {
        let version: Int
        let serial: Int64
        let expires: Date
        let pins: [String: [String]]
    }

    /// Reads a list if one of the keys has signed it. Nothing of it is looked at before that is known.
    ///
    /// - Parameter signature: in base64.
    init(_ content: Data, signature: Data, keys: [PinListKey]) throws {
        let text = String(decoding: signature, as: UTF8.self).filter { !$0.isWhitespace }
        guard let bytes = Data(base64Encoded: text) else {
            throw SignedPinsError(.wrongSignature, "The signature is no base64.")
        }
        guard keys.contains(where: { $0.verifies(bytes, of: content) }) else {
            throw SignedPinsError(.wrongSignature, "None of the keys has made the list's signature.")
        }
        self.content = content
        self.signature = signature
        let fields: Fields
        do {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            fields = try decoder.decode(Fields.self, from: content)
        } catch {
            throw SignedPinsError(.malformed, "The list is not in the format: \(error).")
        }
        guard fields.version == 1 else {
            throw SignedPinsError(.malformed, "The list is of version \(fields.version); 1 is understood.")
        }
        serial = fields.serial
        expires = fields.expires
        do {
            let pairs = try fields.pins.map { host, pins in
                (try HostPattern(parsing: host), try pins.map { try CertificatePin(parsing: $0) })
            }
            pins = try Dictionary(pairs) { _, _ in throw SignedPinsError(.malformed, "A host stands in the list twice.")
            }
        } catch let error as TLSConfigurationError {
            throw SignedPinsError(.malformed, error.message)
        }
    }

    /// Throws what forbids its use.
    func check(now: Date, lastSerial: Int64?) throws {
        guard now < expires else {
            throw SignedPinsError(.expired, "List \(serial) has expired on \(expires).")
        }
        if let lastSerial, serial < lastSerial {
            throw SignedPinsError(
                .outdated,
                "List \(serial) is older than list \(lastSerial), which was accepted before."
            )
        }
    }
}

/// The file in which the last accepted list is kept: list and signature, so that it is verified anew when it is read.
struct PinListFile: Sendable {
    let url: URL

    private struct Fields: Codable {
        let list: Data
        let signature: Data
    }

    func read(keys: [PinListKey]) -> PinList? {
        guard let content = try? RegularFile.contents(of: url),
            let fields = try? JSONDecoder().decode(Fields.self, from: content)
        else { return nil }
        return try? PinList(fields.list, signature: fields.signature, keys: keys)
    }

    func write(_ list: PinList) throws {
        let fields = Fields(list: list.content, signature: list.signature)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try JSONEncoder().encode(fields).write(to: url, options: .atomic)
    }
}
