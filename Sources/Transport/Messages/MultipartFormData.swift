public import Foundation

/// The content of a form with files, `multipart/form-data` (RFC 7578).
///
/// ```swift
/// let form = MultipartFormData([
///     .text(name: "title", title),
///     try .file(name: "photo", at: photo, contentType: "image/jpeg"),
/// ])
/// var request = HTTPRequest(method: .post, url: url, body: try form.body())
/// request.headerFields[.contentType] = form.contentType
/// ```
/// Parts go out in their order, and several may have one name. Files and streams are read when they are sent, in chunks, and
/// anew for each attempt: the whole is never in memory.
public struct MultipartFormData: Sendable {
    /// The parts, in their order.
    public var parts: [Part]
    /// What stands between the parts.
    public let boundary: String

    /// A form with a boundary of 122 random bits, which no content can hold but by a chance that need not be reckoned with.
    public init(_ parts: [Part] = []) {
        self.parts = parts
        boundary = "form-\(UUID().uuidString)"
    }

    /// A form with a boundary of one's own, for tests whose bytes must be the same each time; `nil` unless it is a legal one
    /// (RFC 2046 §5.1.1). That no part holds it is not checked.
    public init?(_ parts: [Part], boundary: String) {
        let isLegal = boundary.utf8.allSatisfy { ASCII.isAlphanumeric($0) || Self.punctuation.contains($0) }
        guard isLegal, (1...70).contains(boundary.utf8.count), !boundary.hasSuffix(" ") else { return nil }
        self.parts = parts
        self.boundary = boundary
    }

    private static let punctuation = Set("'()+_,-./:=? ".utf8)

    /// The value of the `Content-Type` field for this content.
    public var contentType: String {
        "multipart/form-data; boundary=" + (ASCII.isToken(boundary) ? boundary : "\"\(boundary)\"")
    }

    /// The content. Its length is known if that of each part is, and it is restartable if each part is.
    ///
    /// - Throws: ``TransportError`` with ``TransportError/Code/invalidRequest`` if the content type of a part is empty or
    ///   holds a control character, or with ``TransportError/Code/bodyNotReplayable`` if a part was read before and can't be
    ///   again.
    public func body() throws -> HTTPBody {
        var joined = JoinedBodies()
        for part in parts {
            guard part.body.isReadable else { throw TransportError.bodyNotReplayable() }
            joined.append(Data("--\(boundary)\r\n".utf8))
            joined.append(try part.head())
            joined.append(part.body)
            joined.append(Data("\r\n".utf8))
        }
        joined.append(Data("--\(boundary)--\r\n".utf8))
        return joined.body
    }
}

extension MultipartFormData {
    /// One field of a form, or one of its files.
    public struct Part: Sendable {
        /// The name of the field.
        public var name: String
        /// What the file is called; `nil` for what is no file.
        public var filename: String?
        /// The media type; without one it is `text/plain` (RFC 7578 §4.4).
        public var contentType: String?
        /// The content.
        public var body: HTTPBody

        /// A part with any content, a stream too.
        ///
        /// In names and file names, quotation marks and line breaks are written `%22`, `%0D` and `%0A`, as browsers do (HTML,
        /// "multipart/form-data encoding algorithm"): no text can break out of its place. All else goes out as UTF-8.
        public init(name: String, filename: String? = nil, contentType: String? = nil, body: HTTPBody) {
            self.name = name
            self.filename = filename
            self.contentType = contentType
            self.body = body
        }

        /// A field of text. Its line breaks stay as they are.
        public static func text(name: String, _ text: String) -> Self { Self(name: name, body: HTTPBody(text)) }

        /// A file that is in memory.
        public static func bytes(
            name: String,
            _ bytes: Data,
            filename: String? = nil,
            contentType: String = "application/octet-stream"
        ) -> Self {
            Self(name: name, filename: filename, contentType: contentType, body: HTTPBody(bytes))
        }

        /// A file on disk, read in chunks each time it is sent.
        ///
        /// - Parameters:
        ///   - name: the name of the field.
        ///   - file: where it is.
        ///   - filename: what it is called; by default as on disk.
        ///   - contentType: its media type.
        /// - Throws: ``TransportError`` with ``TransportError/Code/unreadableFile`` if there is no such regular file.
        public static func file(
            name: String,
            at file: URL,
            filename: String? = nil,
            contentType: String = "application/octet-stream"
        ) throws -> Self {
            let body = try HTTPBody(file: file)
            return Self(name: name, filename: filename ?? file.lastPathComponent, contentType: contentType, body: body)
        }

        fileprivate func head() throws -> Data {
            var head = Data("Content-Disposition: form-data; name=\"".utf8)
            Self.append(name, to: &head)
            if let filename {
                head += Data("\"; filename=\"".utf8)
                Self.append(filename, to: &head)
            }
            head += Data("\"\r\n".utf8)
            if let contentType {
                guard let type = HTTPField(name: .contentType, value: contentType)?.value, !type.isEmpty else {
                    let part = String(reflecting: name)
                    let message = "The content type of the part \(part) is empty or holds a control character."
                    throw TransportError(.invalidRequest, message)
                }
                head += Data("Content-Type: \(type)\r\n".utf8)
            }
            return head + Data("\r\n".utf8)
        }

        private static func append(_ text: String, to head: inout Data) {
            // Byte by byte: of characters, CR LF would be one.
            for byte in text.utf8 {
                switch byte {
                case UInt8(ascii: "\""): head += Data("%22".utf8)
                case UInt8(ascii: "\r"): head += Data("%0D".utf8)
                case UInt8(ascii: "\n"): head += Data("%0A".utf8)
                default: head.append(byte)
                }
            }
        }
    }
}

/// Bodies one after the other as one.
private struct JoinedBodies: AsyncSequence, Sendable {
    typealias Element = Data

    // What is longer is not copied.
    private static let longestCopied = 64 * 1024

    private var bodies: [HTTPBody] = []
    /// Short pieces that follow each other, as one.
    private var gathered = Data()

    mutating func append(_ bytes: Data) {
        if bytes.count <= Self.longestCopied { gathered += bytes } else { appendWhole(HTTPBody(bytes)) }
    }

    mutating func append(_ body: HTTPBody) {
        if let bytes = body.bytes { append(bytes) } else { appendWhole(body) }
    }

    private mutating func appendWhole(_ body: HTTPBody) {
        bodies += [HTTPBody(gathered), body]
        gathered = Data()
    }

    var body: HTTPBody {
        guard !bodies.isEmpty else { return HTTPBody(gathered) }
        var whole = self
        whole.bodies.append(HTTPBody(gathered))
        whole.gathered = Data()
        return whole.stream
    }

    private var stream: HTTPBody {
        guard bodies.allSatisfy(\.isRestartable) else {
            return .oneShot(self, length: length) { [bodies] in
                for body in bodies { body.discard() }
            }
        }
        return .restartable(length: length) { self }
    }

    // Whoever makes a stream may say any length of it.
    private var length: Int64? {
        bodies.reduce(0) { sum, body in
            guard let sum, let length = body.length else { return nil }
            let (total, overflows) = sum.addingReportingOverflow(length)
            return overflows ? nil : total
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: bodies[...]) }

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var rest: ArraySlice<HTTPBody>
        private var current = HTTPBody.empty.makeAsyncIterator()

        fileprivate init(rest: ArraySlice<HTTPBody>) { self.rest = rest }

        mutating func next() async throws -> Data? { try await next(isolation: #isolation) }

        mutating func next(isolation actor: isolated (any Actor)?) async throws -> Data? {
            while true {
                if let chunk = try await current.next(isolation: actor) { return chunk }
                guard let body = rest.popFirst() else { return nil }
                current = body.makeAsyncIterator()
            }
        }
    }
}
