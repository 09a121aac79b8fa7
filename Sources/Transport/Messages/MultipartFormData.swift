public import Foundation
internal import InterceptorsSyntax

/// The content of a form with files, `multipart/form-data` (RFC 7578).
///
/// ```swift
/// let form = MultipartFormData([
///     .text(name: "title", title),
///     try .file(name: "photo", at: photo, contentType: "image/jpeg"),
/// ])
/// var request = HTTPRequest(method: .post, url: url, body: try form.body())
/// request.headers[.contentType] = form.contentType
/// ```
/// Parts are sent in order, and names may repeat. Each attempt reads files and streams again, in chunks, so the form is never
/// in memory as a whole.
public struct MultipartFormData: Sendable {
    /// The parts, in their order.
    public var parts: [Part]
    /// The line that separates the parts.
    public let boundary: String

    /// Creates a form with a boundary of 122 random bits, too many for any content to contain it by chance.
    public init(_ parts: [Part] = []) {
        self.parts = parts
        boundary = "form-\(UUID().uuidString)"
    }

    /// Creates a form with a given boundary, for tests that need the same bytes each time. Returns `nil` unless the boundary is
    /// legal (RFC 2046 §5.1.1). Doesn't check whether a part contains the boundary.
    public init?(_ parts: [Part], boundary: String) {
        let isLegal = boundary.utf8.allSatisfy { ASCII.isAlphanumeric($0) || Self.punctuation.contains($0) }
        guard isLegal, (1...70).contains(boundary.utf8.count), !boundary.hasSuffix(" ") else { return nil }
        self.parts = parts
        self.boundary = boundary
    }

    private static let punctuation = Set("'()+_,-./:=? ".utf8)

    /// The value of the `Content-Type` field for this form.
    public var contentType: String {
        "multipart/form-data; boundary=" + (ASCII.isToken(boundary) ? boundary : "\"\(boundary)\"")
    }

    /// The content of the form. Its length is known if every part's length is, and it is restartable if every part is.
    ///
    /// - Throws: ``TransportError`` with ``HTTPErrorCode/invalidRequest`` if a part's content type is empty or contains a
    ///   control character, or with ``HTTPErrorCode/bodyNotReplayable`` if a one-shot part was already read.
    public func body() throws -> HTTPBody {
        var pieces: [HTTPBody] = []
        for part in parts {
            guard part.body.isReadable else { throw TransportError.bodyNotReplayable() }
            pieces += [HTTPBody("--\(boundary)\r\n"), HTTPBody(try part.head()), part.body, HTTPBody("\r\n")]
        }
        return .joined(pieces + [HTTPBody("--\(boundary)--\r\n")])
    }
}

extension MultipartFormData {
    /// One field or file of a form.
    public struct Part: Sendable {
        /// The name of the field.
        public var name: String
        /// The file's name, or `nil` if the part isn't a file.
        public var filename: String?
        /// The media type. Without one, receivers assume `text/plain` (RFC 7578 §4.4).
        public var contentType: String?
        /// The content.
        public var body: HTTPBody

        /// Creates a part with any content, including a stream.
        ///
        /// Quotation marks and line breaks in names and file names are written as `%22`, `%0D` and `%0A`, so no text can break
        /// out of its field. Browsers do the same (HTML, "multipart/form-data encoding algorithm"). Everything else is sent as
        /// UTF-8.
        public init(name: String, filename: String? = nil, contentType: String? = nil, body: HTTPBody) {
            self.name = name
            self.filename = filename
            self.contentType = contentType
            self.body = body
        }

        /// A text field. Line breaks in the text are kept.
        public static func text(name: String, _ text: String) -> Self { Self(name: name, body: HTTPBody(text)) }

        /// A file held in memory.
        ///
        /// - Parameters:
        ///   - name: the field's name.
        ///   - bytes: the content.
        ///   - filename: the name of the file, if any.
        ///   - contentType: the media type.
        public static func data(
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
        ///   - file: the file's URL.
        ///   - filename: the name to send. By default the file's name on disk.
        ///   - contentType: the file's media type.
        /// - Throws: ``TransportError`` with ``HTTPErrorCode/unreadableFile`` if there is no such regular file.
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
            // Iterates over bytes, because CR LF forms a single character.
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

extension HTTPBody {
    // Longer pieces aren't copied.
    private static let longestCopied = 64 * 1024

    /// Several bodies concatenated into one. Consecutive short pieces in memory are joined.
    fileprivate static func joined(_ pieces: [HTTPBody]) -> HTTPBody {
        var (gathered, joined): (Data, [HTTPBody]) = (Data(), [])
        for piece in pieces {
            if let bytes = piece.data, bytes.count <= longestCopied {
                gathered += bytes
            } else {
                joined += [HTTPBody(gathered), piece]
                gathered = Data()
            }
        }
        guard !joined.isEmpty else { return HTTPBody(gathered) }
        let bodies = joined + [HTTPBody(gathered)]
        let chunks = UnfoldingSequence(from: { (rest: bodies[...], current: HTTPBody.empty.makeAsyncIterator()) }) {
            state in
            while true {
                if let chunk = try await state.current.next() { return chunk }
                guard let body = state.rest.popFirst() else { return nil as Data? }
                state.current = body.makeAsyncIterator()
            }
        }
        guard !bodies.allSatisfy(\.isRestartable) else { return .restartable(length: length(of: bodies)) { chunks } }
        return .oneShot(chunks, length: length(of: bodies)) { for body in bodies { body.discard() } }
    }

    // A stream's announced length can be any number, so the sum may overflow.
    private static func length(of bodies: [HTTPBody]) -> Int64? {
        bodies.reduce(0) { sum, body in
            guard let sum, let length = body.length else { return nil }
            let (total, overflows) = sum.addingReportingOverflow(length)
            return overflows ? nil : total
        }
    }
}
