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
        var after: Seconds?

        var fault: (key: CodingKeys, text: String)? {
            text != nil && base64 != nil ? (.base64, "A chunk has a text or base64, not both.") : nil
        }
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

        var head: InterimResponse? {
            HTTPResponse.Status(code: status).flatMap { InterimResponse(status: $0, headerFields: headers ?? [:]) }
        }
        var fault: (key: CodingKeys, text: String)? {
            head == nil ? (.status, "An interim status is one of 100 to 199, except 101.") : nil
        }
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
    var delay: Seconds?

    var fault: (key: CodingKeys, text: String)? {
        let given = self.given
        if given.count > 1, given != [.chunks, .failure] {
            let names = given.map(\.stringValue).joined(separator: ", ")
            return (given[1], "An answer has one content. This one has: \(names).")
        }
        if Stub.split(on).pattern.isEmpty { return (.on, "There is no pattern, such as GET /users/*.") }
        if let times, times < 1 { return (.times, "A stub answers at least once.") }
        if let status, HTTPResponse.Status(code: status) == nil {
            return (.status, "A status has three digits, from 100 to 999.")
        }
        if let file, !file.hasPrefix("/") || file.utf8.contains(0) {
            return (.file, "The path of a file begins with a slash.")
        }
        if let trailers, !trailers.isEmpty, chunks == nil {
            return (.trailers, "Only an answer with chunks has trailers.")
        }
        return nil
    }

    /// The content's members. A failure may follow chunks.
    private var given: [CodingKeys] {
        let all: [(CodingKeys, Bool)] = [
            (.json, json != nil), (.text, text != nil), (.base64, base64 != nil), (.file, file != nil),
            (.chunks, chunks != nil), (.failure, failure != nil), (.never, never == true),
        ]
        return all.filter(\.1).map(\.0)
    }
}

// MARK: Decoding

extension StubForm {
    /// The answer. The form has no fault.
    var answer: StubAnswer {
        get throws {
            let (content, type) = try content
            let status = status.flatMap { HTTPResponse.Status(code: $0) } ?? 200
            var answer = StubAnswer(status, StubContent.fields(headers ?? [:], untyped == true ? nil : type), content)
            answer.trailers = trailers ?? [:]
            answer.delay = delay?.duration ?? .zero
            answer.interims = interim?.compactMap(\.form.head) ?? []
            return answer
        }
    }

    /// The content, and the type that its form adds.
    private var content: (StubAnswer.Content, type: String?) {
        get throws {
            if let json { return (.body(HTTPBody(try StubContent.json(json, nil))), "application/json") }
            if let text { return (.body(HTTPBody(text)), "text/plain; charset=utf-8") }
            if let base64 { return (.body(HTTPBody(base64)), nil) }
            if let file { return (.file(URL(filePath: file)), StubContent.type(of: URL(filePath: file))) }
            let failure = failure.map { failure in
                let message = failure.form.message ?? "A stub answers with this failure."
                return TransportError(HTTPErrorCode(rawValue: failure.form.code), message)
            }
            if let chunks { return (.chunks(chunks.map(\.form.chunk), thenFailing: failure), nil) }
            if let failure { return (.failure(failure), nil) }
            return (never == true ? .never : .body(.empty), nil)
        }
    }
}

extension StubForm.Chunk {
    fileprivate var chunk: StubAnswer.Chunk {
        StubAnswer.Chunk(base64 ?? Data((text ?? "").utf8), after: after?.duration ?? .zero)
    }
}

extension KeyedDecodingContainer<StubForm.CodingKeys> {
    /// Replaces the method that the synthesized code would call: `null` is a value of JSON, not a missing one.
    func decodeIfPresent(_ type: StubJSON.Type, forKey key: Key) throws -> StubJSON? {
        contains(key) ? try decode(type, forKey: key) : nil
    }
}

// MARK: Encoding

extension StubForm {
    typealias Refusal = (_ key: CodingKeys, _ value: Any, _ text: String) -> EncodingError

    /// - Parameter refusal: makes an error about a value that JSON can't express.
    init(on: String, times: Int?, _ answer: StubAnswer, _ refusal: Refusal) throws {
        self.init(on: on, times: times, delay: Seconds(answer.delay))
        if answer.status != 200 { status = answer.status.code }
        if !answer.headerFields.isEmpty { headers = answer.headerFields }
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
            self.chunks = chunks.map { chunk in
                let text = String(validating: chunk.bytes, as: UTF8.self)
                return Strict(Chunk(text: text, base64: text == nil ? chunk.bytes : nil, after: Seconds(chunk.pause)))
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
}
