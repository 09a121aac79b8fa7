internal import InterceptorsCore

extension Stub: Codable {
    /// Decodes a stub from the JSON that ``Stub`` describes.
    ///
    /// - Throws: `DecodingError`, which names the member that is wrong.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: StubKey.self)
        let answer = try StubAnswer(from: decoder, besides: [.on, .times])
        let (method, pattern) = Self.split(try members.decode(String.self, forKey: .on))
        guard !pattern.isEmpty else { throw members.fault(at: .on, "There is no pattern, such as GET /users/*.") }
        let times = try members.decodeIfPresent(Int.self, forKey: .times)
        if let times, times < 1 { throw members.fault(at: .times, "A stub answers at least once.") }
        let number = (decoder.codingPath.last?.intValue ?? 0) + 1
        let location = CodeLocation(fileID: "JSON stub", line: number)
        self.init(method: method, pattern: pattern, answer: answer, times: times, location: location)
    }

    /// Encodes the stub as JSON, secrets included.
    ///
    /// - Throws: `EncodingError` if the answer can't be encoded: see `StubAnswer.encode(to:)`.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: StubKey.self)
        guard !pattern.isEmpty, times.map({ $0 >= 1 }) ?? true else {
            throw members.fault(at: .on, pattern, "A stub has a pattern, and answers at least once.")
        }
        guard method.map({ HTTPRequest.Method(rawValue: $0.rawValue) != nil }) ?? true else {
            throw members.fault(at: .on, pattern, "The method isn't a token (RFC 9110 §9.1).")
        }
        try members.encode(text, forKey: .on)
        try members.encodeIfPresent(times, forKey: .times)
        try answer.encode(to: &members)
    }

    /// The method and the pattern. A star stands for any method where the pattern alone would be read as both.
    private var text: String {
        if let method { return "\(method.rawValue) \(pattern)" }
        return Self.split(pattern).method == nil && !pattern.hasPrefix("* ") ? pattern : "* \(pattern)"
    }

    private static func split(_ text: String) -> (method: HTTPRequest.Method?, pattern: String) {
        guard let space = text.firstIndex(of: " "), let method = HTTPRequest.Method(rawValue: String(text[..<space]))
        else { return (nil, text) }
        return (method.rawValue == "*" ? nil : method, String(text[text.index(after: space)...]))
    }
}
