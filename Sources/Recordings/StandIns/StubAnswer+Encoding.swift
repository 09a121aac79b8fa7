internal import Foundation
public import InterceptorsCore

extension StubAnswer: Encodable {
    /// Encodes the answer with the members that ``Stub`` describes, secrets included.
    ///
    /// - Throws: `EncodingError` if the answer can't travel: a closure, a body that is a stream, or an error that isn't an
    ///   `HTTPError`. Of an `HTTPError`, only the code and the message are encoded.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: StubKey.self)
        try encode(to: &members)
    }

    func encode(to members: inout KeyedEncodingContainer<StubKey>) throws {
        if status.code != 200 { try members.encode(status.code, forKey: .status) }
        var fields = headerFields
        try encodeContent(to: &members, &fields)
        if !fields.isEmpty { try members.encode(fields, forKey: .headers) }
        try members.encode(delay, forKey: .delay)
        if let trailers, !trailers.isEmpty { try members.encode(trailers, forKey: .trailers) }
        if !interims.isEmpty { try members.encode(interims.map(StubInterim.init), forKey: .interim) }
    }

    /// - Parameter fields: the fields to encode, from which a type is removed if the form of the content adds the same.
    private func encodeContent(
        to members: inout KeyedEncodingContainer<StubKey>,
        _ fields: inout HTTPFields
    ) throws {
        switch content {
        case .body(let body):
            if let bytes = body.bytes {
                try Self.encode(bytes, to: &members, &fields)
            } else if let file = body.file {
                try Self.encode(file, to: &members, &fields)
            } else {
                throw members.fault(at: .body, body, "A body that is a stream can't be encoded. Use .stream([…]).")
            }
        case .file(let file): try Self.encode(file, to: &members, &fields)
        case .chunks(let chunks, let failure):
            try members.encode(chunks.map(StubChunk.init), forKey: .chunks)
            if let failure { try Self.encode(failure, to: &members) }
        case .failure(let error): try Self.encode(error, to: &members)
        case .never: try members.encode(true, forKey: .never)
        case .closure, .choice:
            throw members.fault(at: .body, self, "The answer of a closure can't be encoded: only values can travel.")
        }
    }

    private static func encode(
        _ bytes: Data,
        to members: inout KeyedEncodingContainer<StubKey>,
        _ fields: inout HTTPFields
    ) throws {
        guard !bytes.isEmpty || fields.hasLastType(StubMediaType.text) else { return }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            return try members.encode(bytes.base64EncodedString(), forKey: .base64)
        }
        if fields.hasLastType(StubMediaType.json), let value = try? JSONDecoder().decode(StubJSON.self, from: bytes),
            try StubContent.json(value, nil) == bytes
        {
            fields.remove(.contentType)
            try members.encode(value, forKey: .json)
        } else if fields.hasLastType(StubMediaType.text) {
            fields.remove(.contentType)
            try members.encode(text, forKey: .text)
        } else {
            try members.encode(text, forKey: .body)
        }
    }

    private static func encode(
        _ file: URL,
        to members: inout KeyedEncodingContainer<StubKey>,
        _ fields: inout HTTPFields
    ) throws {
        guard file.isFileURL else { throw members.fault(at: .file, file, "The URL isn't one of a file.") }
        let path = file.absoluteURL.standardizedFileURL.path
        guard let type = StubContent.type(of: file) else { return try members.encode(path, forKey: .file) }
        guard fields.contains(.contentType) else {
            // A path alone would add a type.
            var untyped = members.nestedContainer(keyedBy: StubKey.self, forKey: .file)
            return try untyped.encode(path, forKey: .path)
        }
        if fields.hasLastType(type) { fields.remove(.contentType) }
        try members.encode(path, forKey: .file)
    }

    private static func encode(_ error: any Error, to members: inout KeyedEncodingContainer<StubKey>) throws {
        guard let error = error as? any HTTPError else {
            let text =
                "\(type(of: error)) can't be encoded. Only the code and the message of an HTTPError travel: use a TransportError."
            throw members.fault(at: .failure, error, text)
        }
        var failure = members.nestedContainer(keyedBy: StubKey.self, forKey: .failure)
        try failure.encode(error.code.rawValue, forKey: .code)
        try failure.encode(error.message, forKey: .message)
    }
}

extension HTTPFields {
    /// Whether the last field is the only content type, and has this value: as a form of the content would add it.
    fileprivate func hasLastType(_ type: String) -> Bool {
        last?.name == .contentType && last?.value == type && self[values: .contentType].count == 1
    }
}
