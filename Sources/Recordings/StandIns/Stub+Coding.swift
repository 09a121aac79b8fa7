internal import InterceptorsCore

extension Stub: Codable {
    /// Decodes a stub from the JSON that ``Stub`` describes.
    ///
    /// - Throws: `DecodingError`, which names the member that is wrong.
    public init(from decoder: any Decoder) throws {
        let form = try Strict<StubForm>(from: decoder).form
        let (method, pattern) = Self.split(form.on)
        let location = CodeLocation(fileID: "JSON stub", line: (decoder.codingPath.last?.intValue ?? 0) + 1)
        self.init(method: method, pattern: pattern, answer: try form.answer, times: form.times, location: location)
    }

    /// Encodes the stub as JSON, secrets included.
    ///
    /// - Throws: `EncodingError` if the answer can't travel: a closure, a body that is a stream, or an error that isn't an
    ///   `HTTPError`. Of an `HTTPError`, only the code and the message are encoded.
    public func encode(to encoder: any Encoder) throws {
        func refusal(_ key: StubForm.CodingKeys, _ value: Any, _ text: String) -> EncodingError {
            .invalidValue(value, EncodingError.Context(codingPath: encoder.codingPath + [key], debugDescription: text))
        }
        guard !pattern.isEmpty, times.map({ $0 >= 1 }) ?? true else {
            throw refusal(.on, pattern, "A stub has a pattern, and answers at least once.")
        }
        guard method.map({ HTTPRequest.Method(rawValue: $0.rawValue) != nil }) ?? true else {
            throw refusal(.on, pattern, "The method isn't a token (RFC 9110 §9.1).")
        }
        try StubForm(on: text, times: times, answer, refusal).encode(to: encoder)
    }

    /// The method and the pattern. A star stands for any method where the pattern alone would be read as both.
    private var text: String {
        if let method { return "\(method.rawValue) \(pattern)" }
        return Self.split(pattern).method == nil && !pattern.hasPrefix("* ") ? pattern : "* \(pattern)"
    }

    static func split(_ text: String) -> (method: HTTPRequest.Method?, pattern: String) {
        guard let space = text.firstIndex(of: " "), let method = HTTPRequest.Method(rawValue: String(text[..<space]))
        else { return (nil, text) }
        return (method.rawValue == "*" ? nil : method, String(text[text.index(after: space)...]))
    }
}
