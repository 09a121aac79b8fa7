internal import Foundation

// Messages that are stored in a file or a queue. Decoded text is untrusted, so an invalid name, value or method throws a
// `DecodingError`.

extension HTTPField: Codable {
    /// Decodes a field from its name and its value.
    ///
    /// - Throws: `DecodingError` if the name isn't a token, or if the value contains a control character (RFC 9110 §5.5).
    public init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        let (name, value) = (try container.decode(String.self), try container.decode(String.self))
        guard let name = Name(name), let field = HTTPField(name: name, value: value), container.isAtEnd else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription:
                    "A field is a name and a value: the name a token, the value without control characters."
            )
        }
        self = field
    }

    /// Encodes the field as an array of its name and its value, secrets included.
    ///
    /// - Throws: `EncodingError` if the field isn't ``isValid``, because it could not be decoded.
    public func encode(to encoder: any Encoder) throws {
        guard isValid else {
            let reason = "The field has an invalid name, or a control character in its value."
            throw EncodingError.invalidValue(self, .init(codingPath: encoder.codingPath, debugDescription: reason))
        }
        var container = encoder.unkeyedContainer()
        try container.encode(name.rawName)
        try container.encode(value)
    }
}

extension HTTPFields: Codable {
    /// Decodes fields from an array of names and values.
    ///
    /// - Throws: `DecodingError` if a field is invalid.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode([HTTPField].self))
    }

    /// Encodes the fields as an array of pairs, secrets included. The order, duplicates and the spelling of names are kept:
    ///
    /// ```json
    /// [["Accept", "application/json"], ["X-Client", "ios"]]
    /// ```
    /// - Throws: `EncodingError` if a field isn't ``HTTPField/isValid``.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Array(self))
    }
}

// `RawRepresentable` supplies the code, and refuses a text that isn't a token.
extension HTTPRequest.Method: Codable {}

extension HTTPRequest: Codable {
    private enum CodingKeys: String, CodingKey { case method, url, headers, body }

    /// Decodes a request with an empty context.
    ///
    /// - Throws: `DecodingError` if the method or a field is invalid. The URL is checked when the request is sent.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            method: try container.decode(Method.self, forKey: .method),
            url: try container.decode(URL.self, forKey: .url),
            headers: try container.decode(HTTPFields.self, forKey: .headers),
            body: HTTPBody(try container.decodeIfPresent(Data.self, forKey: .body) ?? Data())
        )
    }

    /// Encodes method, URL, fields and content, secrets included. The context isn't encoded.
    ///
    /// - Throws: `EncodingError` if the method or a field isn't valid, or if the content isn't in memory. A stream can't be
    ///   read here. Files aren't encoded, because changing the path in the encoded text would send another file.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        guard Method(rawValue: method.rawValue) != nil else {
            throw Self.uncodable(method.rawValue, .method, "The method isn't a token (RFC 9110 §9.1).", encoder)
        }
        try container.encode(method, forKey: .method)
        try container.encode(url, forKey: .url)
        try container.encode(headers, forKey: .headers)
        guard !body.isEmpty else { return }
        guard let bytes = body.data else {
            let reason = "Only content in memory can be encoded. Read the stream or the file first: collect(upTo:)."
            throw Self.uncodable(body, .body, reason, encoder)
        }
        try container.encode(bytes, forKey: .body)
    }

    private static func uncodable(
        _ value: Any,
        _ key: CodingKeys,
        _ reason: String,
        _ encoder: any Encoder
    ) -> EncodingError {
        .invalidValue(value, .init(codingPath: encoder.codingPath + [key], debugDescription: reason))
    }
}
