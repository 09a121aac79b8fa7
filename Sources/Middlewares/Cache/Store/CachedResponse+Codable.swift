extension CachedResponse: Codable {
    private enum CodingKeys: String, CodingKey {
        case status, reasonPhrase, headers, selectingFields, initialAge, responseTime, needsValidation
    }

    /// Decodes a stored response, for a ``CacheStore`` that you write.
    ///
    /// - Throws: `DecodingError` if the status doesn't have three digits, the age is negative, the time of arrival is over
    ///   30,000 years from 1970, or a field is invalid.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func corrupted(_ key: CodingKeys, _ problem: String) -> DecodingError {
            .dataCorruptedError(forKey: key, in: container, debugDescription: problem)
        }
        let code = try container.decode(Int.self, forKey: .status)
        let phrase = try container.decodeIfPresent(String.self, forKey: .reasonPhrase)
        guard let status = HTTPResponse.Status(code: code, reasonPhrase: phrase) else {
            throw corrupted(.status, "\(code) is no status: it has three digits (RFC 9110 §15).")
        }
        let age = try container.decode(Int64.self, forKey: .initialAge)
        if age < 0 { throw corrupted(.initialAge, "A response is at least 0 seconds old, not \(age).") }
        let responseTime = try container.decode(Int64.self, forKey: .responseTime)
        guard responseTime.magnitude <= 1_000_000_000_000 else {
            throw corrupted(.responseTime, "\(responseTime) seconds since 1970 is no time of arrival.")
        }
        self.init(
            status: status,
            headers: try container.decode(HTTPFields.self, forKey: .headers),
            selectingFields: try container.decode(HTTPFields.self, forKey: .selectingFields),
            initialAge: age,
            responseTime: responseTime,
            needsValidation: try container.decode(Bool.self, forKey: .needsValidation)
        )
    }

    /// Encodes every stored property.
    ///
    /// - Throws: `EncodingError` if a field isn't valid.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(status.code, forKey: .status)
        if HTTPResponse.Status(code: status.code)?.reasonPhrase != status.reasonPhrase {
            try container.encode(status.reasonPhrase, forKey: .reasonPhrase)
        }
        try container.encode(headers, forKey: .headers)
        try container.encode(selectingFields, forKey: .selectingFields)
        try container.encode(initialAge, forKey: .initialAge)
        try container.encode(responseTime, forKey: .responseTime)
        try container.encode(needsValidation, forKey: .needsValidation)
    }
}
