internal import Foundation
public import InterceptorsCore

extension StubAnswer: Decodable {
    /// Decodes an answer from the members that ``Stub`` describes.
    ///
    /// - Throws: `DecodingError`, which names the member that is wrong.
    public init(from decoder: any Decoder) throws { try self.init(from: decoder, besides: []) }

    /// - Parameter others: members that the answer leaves to its container.
    init(from decoder: any Decoder, besides others: [StubKey]) throws {
        let members = try decoder.container(keyedBy: StubKey.self)
        try members.refuseMembers(besides: others + StubKey.answer)
        let (content, contentType) = try members.content()
        self.init(try members.status(), StubContent.fields(try members.headers(), contentType), content)
        delay = try members.duration(at: .delay)
        trailers = try members.trailers()
        interims = try members.decodeIfPresent([StubInterim].self, forKey: .interim)?.map(\.head) ?? []
    }
}

extension KeyedDecodingContainer<StubKey> {
    fileprivate func status() throws -> HTTPResponse.Status {
        guard let code = try decodeIfPresent(Int.self, forKey: .status) else { return 200 }
        guard let status = HTTPResponse.Status(code: code) else {
            throw fault(at: .status, "A status has three digits, from 100 to 999.")
        }
        return status
    }

    /// The fields after the content, which only chunks can have.
    fileprivate func trailers() throws -> HTTPFields {
        let trailers = try headers(at: .trailers)
        guard trailers.isEmpty || contains(.chunks) else {
            throw fault(at: .trailers, "Only an answer with chunks has trailers.")
        }
        return trailers
    }

    fileprivate func headers(at key: StubKey = .headers) throws -> HTTPFields {
        guard contains(key), try !decodeNil(forKey: key) else { return [:] }
        guard let object = try? nestedContainer(keyedBy: StubKey.self, forKey: key) else {
            return try decode(HTTPFields.self, forKey: key)
        }
        var fields = HTTPFields()
        for key in object.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) {
            guard let name = HTTPField.Name(key.stringValue) else {
                throw object.fault(at: key, "The name of a field is a token.")
            }
            for value in try object.values(at: key) {
                guard let field = HTTPField(name: name, value: value) else {
                    throw object.fault(at: key, "The value of a field has no control characters.")
                }
                fields.append(field)
            }
        }
        return fields
    }

    /// The values of a field: a text, a whole number, or a list of texts.
    private func values(at key: StubKey) throws -> [String] {
        if let text = try? decode(String.self, forKey: key) { return [text] }
        if let number = try? decode(Int.self, forKey: key) { return [String(number)] }
        return try decode([String].self, forKey: key)
    }

    /// The content, and the type that its form adds.
    fileprivate func content() throws -> (content: StubAnswer.Content, contentType: String?) {
        let given = try StubKey.contents.filter { try isGiven($0) }
        guard let form = given.first else { return (.body(.empty), nil) }
        guard given.count == 1 || given == [.chunks, .failure] else {
            let names = given.map(\.stringValue).joined(separator: ", ")
            throw fault(at: given[1], "An answer has one content. This one has: \(names).")
        }
        switch form {
        case .json:
            let bytes = try StubContent.json(try decode(StubJSON.self, forKey: .json), nil)
            return (.body(HTTPBody(bytes)), StubMediaType.json)
        case .text: return (.body(HTTPBody(try decode(String.self, forKey: .text))), StubMediaType.text)
        case .body: return (.body(HTTPBody(try decode(String.self, forKey: .body))), nil)
        case .base64: return (.body(HTTPBody(try base64(at: .base64))), nil)
        case .file:
            let (file, addsType) = try file()
            return (.file(file), addsType ? StubContent.type(of: file) : nil)
        case .chunks:
            let chunks = try decode([StubChunk].self, forKey: .chunks).map(\.chunk)
            return (.chunks(chunks, thenFailing: given.count > 1 ? try failure() : nil), nil)
        case .failure: return (.failure(try failure()), nil)
        default: return (.never, nil)
        }
    }

    private func isGiven(_ key: StubKey) throws -> Bool {
        guard contains(key) else { return false }
        if key == .json { return true }
        return try !decodeNil(forKey: key) && (key != .never || decode(Bool.self, forKey: key))
    }

    /// The file, and whether the type of its extension is added.
    private func file() throws -> (URL, addsType: Bool) {
        let text = try? decode(String.self, forKey: .file)
        let path = try text ?? untypedFile()
        guard path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw fault(at: .file, "The path of a file begins with a slash.")
        }
        return (URL(filePath: path), addsType: text != nil)
    }

    private func untypedFile() throws -> String {
        let members = try nestedContainer(keyedBy: StubKey.self, forKey: .file)
        try members.refuseMembers(besides: [.path])
        return try members.decode(String.self, forKey: .path)
    }

    private func failure() throws -> TransportError {
        if let code = try? decode(String.self, forKey: .failure) {
            return TransportError(HTTPErrorCode(rawValue: code), "A stub answers with this failure.")
        }
        let members = try nestedContainer(keyedBy: StubKey.self, forKey: .failure)
        try members.refuseMembers(besides: [.code, .message])
        let code = HTTPErrorCode(rawValue: try members.decode(String.self, forKey: .code))
        let message = try members.decodeIfPresent(String.self, forKey: .message)
        return TransportError(code, message ?? "A stub answers with this failure.")
    }
}

/// The types that a form of the content adds.
enum StubMediaType {
    static let json = "application/json"
    static let text = "text/plain; charset=utf-8"
}

/// The JSON of a part of a streamed content: a text, or an object.
struct StubChunk: Codable {
    let chunk: StubAnswer.Chunk

    init(_ chunk: StubAnswer.Chunk) { self.chunk = chunk }

    init(from decoder: any Decoder) throws {
        if let text = try? decoder.singleValueContainer().decode(String.self) {
            chunk = StubAnswer.Chunk(Data(text.utf8))
            return
        }
        let members = try decoder.container(keyedBy: StubKey.self)
        try members.refuseMembers(besides: [.text, .base64, .after])
        if members.contains(.text), members.contains(.base64) {
            throw members.fault(at: .base64, "A chunk has a text or base64, not both.")
        }
        let bytes =
            members.contains(.base64)
            ? try members.base64(at: .base64)
            : Data(try members.decodeIfPresent(String.self, forKey: .text).map { Array($0.utf8) } ?? [])
        chunk = StubAnswer.Chunk(bytes, after: try members.duration(at: .after))
    }

    func encode(to encoder: any Encoder) throws {
        let text = String(validating: chunk.bytes, as: UTF8.self)
        if let text, chunk.pause <= .zero {
            var container = encoder.singleValueContainer()
            return try container.encode(text)
        }
        var members = encoder.container(keyedBy: StubKey.self)
        if let text {
            try members.encode(text, forKey: .text)
        } else {
            try members.encode(chunk.bytes.base64EncodedString(), forKey: .base64)
        }
        try members.encode(chunk.pause, forKey: .after)
    }
}

/// An interim response before an answer: `{"status": 103, "headers": {"Link": "</a.css>"}}`.
struct StubInterim: Codable {
    let head: InterimResponse

    init(_ head: InterimResponse) { self.head = head }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: StubKey.self)
        try members.refuseMembers(besides: [.status, .headers])
        guard let head = InterimResponse(status: try members.status(), headerFields: try members.headers()) else {
            throw members.fault(at: .status, "An interim status is one of 100 to 199, except 101.")
        }
        self.head = head
    }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: StubKey.self)
        try members.encode(head.status.code, forKey: .status)
        if !head.headerFields.isEmpty { try members.encode(head.headerFields, forKey: .headers) }
    }
}
