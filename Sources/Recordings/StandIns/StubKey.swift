internal import Foundation

/// A member of a stub's JSON. Any text is a key, so that an unknown one can be named.
struct StubKey: CodingKey, Hashable {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }

    static let (trailers, interim) = (Self(stringValue: "trailers"), Self(stringValue: "interim"))
    static let (on, times) = (Self(stringValue: "on"), Self(stringValue: "times"))
    static let (status, headers, delay) = (
        Self(stringValue: "status"), Self(stringValue: "headers"), Self(stringValue: "delay")
    )
    static let (json, text, body, base64) = (
        Self(stringValue: "json"), Self(stringValue: "text"), Self(stringValue: "body"), Self(stringValue: "base64")
    )
    static let (file, chunks, failure, never) = (
        Self(stringValue: "file"), Self(stringValue: "chunks"), Self(stringValue: "failure"), Self(stringValue: "never")
    )
    static let (after, code, message, path) = (
        Self(stringValue: "after"), Self(stringValue: "code"), Self(stringValue: "message"), Self(stringValue: "path")
    )

    /// The forms of a content.
    static let contents = [json, text, body, base64, file, chunks, failure, never]
    /// The members of an answer.
    static let answer = [status, headers, delay] + contents + [trailers, interim]
}

extension KeyedDecodingContainer<StubKey> {
    /// Throws an error that names a member outside of those that are known.
    func refuseMembers(besides known: [StubKey]) throws {
        let unknown = allKeys.filter { !known.contains($0) }.min { $0.stringValue < $1.stringValue }
        guard let unknown else { return }
        let names = known.map(\.stringValue).joined(separator: ", ")
        throw fault(at: unknown, "This member is unknown. The known ones: \(names).")
    }

    /// An error about the value of a member.
    func fault(at key: StubKey, _ text: String) -> DecodingError {
        .dataCorruptedError(forKey: key, in: self, debugDescription: text)
    }

    /// A number of seconds, from 0 to a billion, to the nanosecond.
    func duration(at key: StubKey) throws -> Duration {
        guard let seconds = try decodeIfPresent(Double.self, forKey: key) else { return .zero }
        guard seconds >= 0, seconds <= 1e9 else {
            throw fault(at: key, "This isn't a number of seconds from 0 to 10⁹.")
        }
        return .nanoseconds(Int64((seconds * 1e9).rounded()))
    }

    /// The bytes of a text in base64.
    func base64(at key: StubKey) throws -> Data {
        guard let bytes = Data(base64Encoded: try decode(String.self, forKey: key)) else {
            throw fault(at: key, "This isn't base64.")
        }
        return bytes
    }
}

extension KeyedEncodingContainer<StubKey> {
    mutating func encode(_ duration: Duration, forKey key: StubKey) throws {
        guard duration > .zero else { return }
        guard duration <= .seconds(1_000_000_000) else {
            throw fault(at: key, duration, "More than 10⁹ seconds can't be encoded.")
        }
        let (seconds, attoseconds) = duration.components
        try encode(Double(seconds) + Double(attoseconds) / 1e18, forKey: key)
    }

    /// An error about a value that no JSON can express.
    func fault(at key: StubKey, _ value: Any, _ text: String) -> EncodingError {
        .invalidValue(value, EncodingError.Context(codingPath: codingPath + [key], debugDescription: text))
    }
}
