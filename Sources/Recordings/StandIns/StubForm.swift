internal import Foundation
internal import InterceptorsCore

/// The JSON of a stub, which ``Stub`` documents.
struct StubForm: StrictForm {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case on, times, status, headers, json, text, base64, file, untyped, chunks, failure, never, trailers, interim,
            delay
    }

    struct Chunk: StrictForm {
        enum CodingKeys: String, CodingKey, CaseIterable { case text, base64, after }
        var text: String?
        var base64: Data?
        var after: Double?
    }

    struct Failure: StrictForm {
        enum CodingKeys: String, CodingKey, CaseIterable { case code, message }
        var code: String
        var message: String?
    }

    struct Interim: StrictForm {
        enum CodingKeys: String, CodingKey, CaseIterable { case status, headers }
        var status: Int
        var headers: HTTPFields?
    }

    var on: String
    var times: Int?
    var status: Int?
    var headers: HTTPFields?
    var json: StubJSON?
    var text: String?
    var base64: Data?
    var file: String?
    var untyped: Bool?
    var chunks: [Strict<Chunk>]?
    var failure: Strict<Failure>?
    var never: Bool?
    var trailers: HTTPFields?
    var interim: [Strict<Interim>]?
    var delay: Double?
}

/// A part of a stub's JSON whose unknown members are errors.
protocol StrictForm: Codable, Sendable {
    associatedtype CodingKeys: CodingKey, CaseIterable
}

/// Decodes a form, and throws an error that names a member that the form doesn't have.
struct Strict<Form: StrictForm>: Codable, Sendable {
    let form: Form

    init(_ form: Form) { self.form = form }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: AnyKey.self)
        let known = Form.CodingKeys.allCases.map(\.stringValue)
        if let unknown = members.allKeys.filter({ !known.contains($0.stringValue) })
            .min(by: { $0.stringValue < $1.stringValue })
        {
            let text = "This member is unknown. The known ones: \(known.joined(separator: ", "))."
            throw DecodingError.dataCorruptedError(forKey: unknown, in: members, debugDescription: text)
        }
        form = try Form(from: decoder)
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

// MARK: Decoding

extension StubForm {
    typealias Fault = (_ keys: [any CodingKey], _ text: String) -> DecodingError

    /// - Parameter fault: makes an error about the value of a member.
    func answer(_ fault: Fault) throws -> StubAnswer {
        let given = self.given
        guard given.count < 2 || given == [.chunks, .failure] else {
            let names = given.map(\.stringValue).joined(separator: ", ")
            throw fault([given[1]], "An answer has one content. This one has: \(names).")
        }
        guard let status = HTTPResponse.Status(code: status ?? 200) else {
            throw fault([CodingKeys.status], "A status has three digits, from 100 to 999.")
        }
        guard trailers?.isEmpty ?? true || chunks != nil else {
            throw fault([CodingKeys.trailers], "Only an answer with chunks has trailers.")
        }
        let (content, type) = try content(fault)
        var answer = StubAnswer(status, StubContent.fields(headers ?? [:], untyped == true ? nil : type), content)
        answer.trailers = trailers ?? [:]
        answer.delay = try Self.duration(delay) { fault([CodingKeys.delay], $0) }
        answer.interims = try (interim ?? []).enumerated().map { index, interim in
            let status = HTTPResponse.Status(code: interim.form.status)
            guard let head = status.flatMap({ InterimResponse(status: $0, headerFields: interim.form.headers ?? [:]) })
            else {
                let keys: [any CodingKey] = [CodingKeys.interim, Index(index), Interim.CodingKeys.status]
                throw fault(keys, "An interim status is one of 100 to 199, except 101.")
            }
            return head
        }
        return answer
    }

    /// The content's members. A failure may follow chunks.
    private var given: [CodingKeys] {
        let all: [(CodingKeys, Bool)] = [
            (.json, json != nil), (.text, text != nil), (.base64, base64 != nil), (.file, file != nil),
            (.chunks, chunks != nil), (.failure, failure != nil), (.never, never == true),
        ]
        return all.filter(\.1).map(\.0)
    }

    /// The content, and the type that its form adds.
    private func content(_ fault: Fault) throws -> (StubAnswer.Content, type: String?) {
        let failure = failure.map { failure in
            let message = failure.form.message ?? "A stub answers with this failure."
            return TransportError(HTTPErrorCode(rawValue: failure.form.code), message)
        }
        if let json { return (.body(HTTPBody(try StubContent.json(json, nil))), "application/json") }
        if let text { return (.body(HTTPBody(text)), "text/plain; charset=utf-8") }
        if let base64 { return (.body(HTTPBody(base64)), nil) }
        if let file {
            guard file.hasPrefix("/"), !file.utf8.contains(0) else {
                throw fault([CodingKeys.file], "The path of a file begins with a slash.")
            }
            let url = URL(filePath: file)
            return (.file(url), StubContent.type(of: url))
        }
        if let chunks {
            return (
                .chunks(try chunks.enumerated().map { try chunk($1.form, at: $0, fault) }, thenFailing: failure), nil
            )
        }
        if let failure { return (.failure(failure), nil) }
        return (never == true ? .never : .body(.empty), nil)
    }

    private func chunk(_ chunk: Chunk, at index: Int, _ fault: Fault) throws -> StubAnswer.Chunk {
        let keys: [any CodingKey] = [CodingKeys.chunks, Index(index)]
        guard chunk.text == nil || chunk.base64 == nil else {
            throw fault(keys + [Chunk.CodingKeys.base64], "A chunk has a text or base64, not both.")
        }
        let pause = try Self.duration(chunk.after) { fault(keys + [Chunk.CodingKeys.after], $0) }
        return StubAnswer.Chunk(chunk.base64 ?? Data((chunk.text ?? "").utf8), after: pause)
    }

    private static func duration(_ seconds: Double?, _ fault: (String) -> DecodingError) throws -> Duration {
        let seconds = seconds ?? 0
        guard seconds >= 0, seconds <= 1e9 else { throw fault("This isn't a number of seconds from 0 to 10⁹.") }
        return .nanoseconds(Int64((seconds * 1e9).rounded()))
    }
}

/// The index of an element, in the path of an error.
private struct Index: CodingKey {
    let index: Int
    var stringValue: String { "Index \(index)" }
    var intValue: Int? { index }

    init(_ index: Int) { self.index = index }
    init?(stringValue: String) { nil }
    init?(intValue: Int) { index = intValue }
}

// MARK: Encoding

extension StubForm {
    typealias Refusal = (_ key: CodingKeys, _ value: Any, _ text: String) -> EncodingError

    /// - Parameter refusal: makes an error about a value that JSON can't express.
    init(on: String, times: Int?, _ answer: StubAnswer, _ refusal: Refusal) throws {
        self.init(on: on, times: times)
        if answer.status != 200 { status = answer.status.code }
        if !answer.headerFields.isEmpty { headers = answer.headerFields }
        delay = try Self.seconds(answer.delay) { refusal(.delay, $0, $1) }
        if let fields = answer.trailers, !fields.isEmpty { trailers = fields }
        if !answer.interims.isEmpty {
            interim = answer.interims.map { Strict(Interim(status: $0.status.code, headers: $0.headerFields)) }
        }
        try set(answer.content, refusal)
        if text != nil || file != nil, !answer.headerFields.contains(.contentType) { untyped = true }
    }

    private mutating func set(_ content: StubAnswer.Content, _ refusal: Refusal) throws {
        switch content {
        case .body(let body):
            if let bytes = body.bytes {
                text = bytes.isEmpty ? nil : String(validating: bytes, as: UTF8.self)
                if text == nil, !bytes.isEmpty { base64 = bytes }
            } else if let url = body.file {
                try set(.file(url), refusal)
            } else {
                throw refusal(.text, body, "A body that is a stream can't be encoded. Use .stream([…]).")
            }
        case .file(let url):
            guard url.isFileURL else { throw refusal(.file, url, "The URL isn't one of a file.") }
            file = url.absoluteURL.standardizedFileURL.path
        case .chunks(let chunks, let error):
            self.chunks = try chunks.map { chunk in
                let text = String(validating: chunk.bytes, as: UTF8.self)
                let after = try Self.seconds(chunk.pause) { refusal(.chunks, $0, $1) }
                return Strict(Chunk(text: text, base64: text == nil ? chunk.bytes : nil, after: after))
            }
            if let error { try set(.failure(error), refusal) }
        case .failure(let error):
            guard let error = error as? any HTTPError else {
                let text = "\(type(of: error)) can't be encoded. Only the code and the message of an HTTPError travel:"
                throw refusal(.failure, error, text + " use a TransportError.")
            }
            failure = Strict(Failure(code: error.code.rawValue, message: error.message))
        case .never: never = true
        case .closure, .choice:
            throw refusal(.text, content, "The answer of a closure can't be encoded: only values can travel.")
        }
    }

    private static func seconds(_ duration: Duration, _ refusal: (Any, String) -> EncodingError) throws -> Double? {
        guard duration > .zero else { return nil }
        guard duration <= .seconds(1_000_000_000) else {
            throw refusal(duration, "More than 10⁹ seconds can't be encoded.")
        }
        let (seconds, attoseconds) = duration.components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
