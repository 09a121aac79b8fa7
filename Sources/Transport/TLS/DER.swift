/// Reads the elements of a DER encoding in order (ITU-T X.690 §8, §10).
struct DERReader {
    struct Element {
        let tag: UInt8
        let content: ArraySlice<UInt8>
        /// The whole element, including its tag and length.
        let encoding: ArraySlice<UInt8>
    }

    static let sequence: UInt8 = 0x30
    static let set: UInt8 = 0x31

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    /// The next element. `nil` at the end, and if the bytes aren't DER.
    mutating func next() -> Element? {
        let start = rest
        // The structure of a certificate has no multi-byte tags.
        guard let tag = rest.popFirst(), tag & 0x1F != 0x1F, let length = readLength(), length <= rest.count else {
            rest = []
            return nil
        }
        let content = rest.prefix(length)
        rest = rest.dropFirst(length)
        return Element(tag: tag, content: content, encoding: start[start.startIndex..<content.endIndex])
    }

    mutating func next(_ tag: UInt8) -> Element? {
        guard let element = next(), element.tag == tag else { return nil }
        return element
    }

    private mutating func readLength() -> Int? {
        guard let first = rest.popFirst() else { return nil }
        guard first & 0x80 != 0 else { return Int(first) }
        let count = Int(first & 0x7F)
        guard 1...4 ~= count, rest.count >= count else { return nil }
        let length = rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
        rest = rest.dropFirst(count)
        return length
    }
}

/// The parts of an X.509 certificate that pins and messages need (RFC 5280 §4.1).
struct CertificateLayout {
    /// The SubjectPublicKeyInfo, including its tag and length. A public key pin is its digest.
    let publicKeyInfo: ArraySlice<UInt8>
    /// The subject's common name, or else its organization, for messages.
    let subject: String

    /// Returns `nil` if the bytes aren't a certificate.
    init?(_ der: [UInt8]) {
        var outer = DERReader(der[...])
        guard let certificate = outer.next(DERReader.sequence), outer.isAtEnd else { return nil }
        var parts = DERReader(certificate.content)
        guard let toBeSigned = parts.next(DERReader.sequence) else { return nil }
        // The signature algorithm and the signature.
        guard parts.next(DERReader.sequence) != nil, parts.next(0x03) != nil, parts.isAtEnd else { return nil }
        var fields = DERReader(toBeSigned.content)
        guard var field = fields.next() else { return nil }
        // The version field is present only if the version isn't 1.
        if field.tag == 0xA0, let next = fields.next() { field = next }
        guard field.tag == 0x02 else { return nil }
        // Skips algorithm, issuer and validity.
        for _ in 0..<3 where fields.next(DERReader.sequence) == nil { return nil }
        guard let subject = fields.next(DERReader.sequence), let key = fields.next(DERReader.sequence) else {
            return nil
        }
        self.subject = Self.name(subject.content)
        publicKeyInfo = key.encoding
    }

    private static func name(_ names: ArraySlice<UInt8>) -> String {
        let (commonName, organisation): ([UInt8], [UInt8]) = ([0x55, 0x04, 0x03], [0x55, 0x04, 0x0A])
        var found: [[UInt8]: String] = [:]
        var sets = DERReader(names)
        while let set = sets.next(DERReader.set) {
            var attributes = DERReader(set.content)
            while let attribute = attributes.next(DERReader.sequence) {
                var parts = DERReader(attribute.content)
                guard let type = parts.next(0x06), let value = parts.next() else { break }
                found[Array(type.content)] = String(decoding: value.content, as: UTF8.self)
            }
        }
        if let name = found[commonName] { return "CN=\(printable(name))" }
        if let name = found[organisation] { return "O=\(printable(name))" }
        return "no name"
    }

    // Any server can send a certificate, so its text must not control a terminal.
    private static func printable(_ name: String) -> String {
        let kept = name.unicodeScalars.prefix(128).map {
            $0.properties.generalCategory == .control ? "?" : Character($0)
        }
        return String(kept)
    }
}
