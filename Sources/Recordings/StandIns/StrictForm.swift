/// A part of a stub's JSON, in which an unknown member is an error.
protocol StrictForm: Codable, Sendable {
    associatedtype CodingKeys: CodingKey, CaseIterable

    /// The member whose value is wrong, and why; `nil` if all of them are right.
    var fault: (key: CodingKeys, text: String)? { get }
}

extension StrictForm {
    var fault: (key: CodingKeys, text: String)? { nil }
}

/// Decodes a form, and throws an error that names an unknown member, or one whose value is wrong.
struct Strict<Form: StrictForm>: Codable, Sendable {
    let form: Form

    init(_ form: Form) { self.form = form }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: AnyKey.self)
        let known = Form.CodingKeys.allCases.map(\.stringValue)
        let unknown = members.allKeys.filter { !known.contains($0.stringValue) }
        if let unknown = unknown.min(by: { $0.stringValue < $1.stringValue }) {
            let text = "This member is unknown. The known ones: \(known.joined(separator: ", "))."
            throw DecodingError.dataCorruptedError(forKey: unknown, in: members, debugDescription: text)
        }
        form = try Form(from: decoder)
        if let (key, text) = form.fault {
            let path = decoder.codingPath + [key]
            throw DecodingError.dataCorrupted(.init(codingPath: path, debugDescription: text))
        }
    }

    func encode(to encoder: any Encoder) throws { try form.encode(to: encoder) }
}

/// The name of any member.
struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

/// A number of seconds, from 0 to a billion, to the nanosecond.
struct Seconds: Codable, Sendable {
    let duration: Duration

    /// `nil` for none.
    init?(_ duration: Duration) {
        guard duration > .zero else { return nil }
        self.duration = duration
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let seconds = try container.decode(Double.self)
        guard seconds >= 0, seconds <= 1e9 else {
            let text = "This isn't a number of seconds from 0 to 10⁹."
            throw DecodingError.dataCorruptedError(in: container, debugDescription: text)
        }
        duration = .nanoseconds(Int64((seconds * 1e9).rounded()))
    }

    func encode(to encoder: any Encoder) throws {
        guard duration <= .seconds(1_000_000_000) else {
            let text = "More than 10⁹ seconds can't be encoded."
            throw EncodingError.invalidValue(duration, .init(codingPath: encoder.codingPath, debugDescription: text))
        }
        var container = encoder.singleValueContainer()
        try container.encode(duration / .seconds(1))
    }
}
