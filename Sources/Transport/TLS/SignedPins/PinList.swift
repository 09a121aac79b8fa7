internal import Foundation

/// A verified list of pins with its signature.
struct PinList: Sendable {
    static let sizeLimit = 1 << 20

    let serial: Int64
    let expires: Date
    let pins: [HostPattern: [CertificatePin]]
    /// The bytes as fetched, kept so that they can be verified again.
    let content: Data
    let signature: Data

    private struct Fields: Decodable {
        let version: Int
        let serial: Int64
        let expires: Date
        let pins: [String: [String]]
    }

    /// Parses a list after verifying its signature with one of the keys. No byte of the list is interpreted before.
    ///
    /// - Parameter signature: the signature in base64.
    init(_ content: Data, signature: Data, keys: [PinListKey]) throws {
        let text = String(decoding: signature, as: UTF8.self).filter { !$0.isWhitespace }
        guard let bytes = Data(base64Encoded: text) else {
            throw TransportError(.pinsNotSigned, "The signature is no base64.")
        }
        guard keys.contains(where: { $0.verifies(bytes, of: content) }) else {
            throw TransportError(.pinsNotSigned, "None of the keys has made the list's signature.")
        }
        self.content = content
        self.signature = signature
        let fields: Fields
        do {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            fields = try decoder.decode(Fields.self, from: content)
        } catch {
            throw TransportError(.malformed, "The list is not in the format: \(error).")
        }
        guard fields.version == 1 else {
            throw TransportError(.malformed, "The list is of version \(fields.version); 1 is understood.")
        }
        serial = fields.serial
        expires = fields.expires
        do {
            let pairs = try fields.pins.map { host, pins in
                (try HostPattern(parsing: host), try pins.map { try CertificatePin(parsing: $0) })
            }
            pins = try Dictionary(pairs) { _, _ in
                throw TransportError(.malformed, "A host stands in the list twice.")
            }
        } catch let error as TransportError {
            throw TransportError(.malformed, error.message)
        }
    }

    /// Throws if the list has expired or is older than the last accepted list.
    func check(now: Date, lastSerial: Int64?) throws {
        guard now < expires else {
            throw TransportError(.pinsExpired, "List \(serial) has expired on \(expires).")
        }
        if let lastSerial, serial < lastSerial {
            throw TransportError(
                .pinsOutdated,
                "List \(serial) is older than list \(lastSerial), which was accepted before."
            )
        }
    }
}

/// The file that keeps the last accepted list with its signature. Each read verifies the signature again.
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
