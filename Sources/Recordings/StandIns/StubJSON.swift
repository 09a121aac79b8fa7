internal import Foundation
internal import InterceptorsArchives

// Stubs as JSON, which ``LaunchStubs`` documents.

extension Stub {
    /// - Parameter number: the number of the stub in its list, which messages about it name.
    init(_ json: JSONMember, number: Int) throws {
        try json.expectNoMembers(but: ["on", "times", "status", "headers", "delay"] + StubAnswer.contents)
        let on = try json.member("on")
        let (method, pattern) = Self.split(try on.string())
        guard !pattern.isEmpty else { throw on.isNo("a pattern, such as GET /users/*") }
        let times = try json.optional("times").map { times in
            guard try times.integer() >= 1 else { throw times.isNo("a number of requests from 1 on") }
            return try times.integer()
        }
        let location = CodeLocation(fileID: "JSON stub", line: number)
        self.init(method: method, pattern: pattern, answer: try StubAnswer(json), times: times, location: location)
    }

    /// - Throws: `TransportError` if the answer can't travel.
    func json() throws -> OrderedJSON {
        .object([("on", .string(text))] + (times.map { [("times", .integer($0))] } ?? []) + (try answer.members(self)))
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

// MARK: Reading

extension StubAnswer {
    /// The members with a content, of which an answer has one. A failure may follow chunks.
    fileprivate static let contents = ["json", "text", "base64", "file", "chunks", "failure", "never"]

    fileprivate init(_ json: JSONMember) throws {
        let (content, type) = try Self.content(json)
        self.init(200, StubContent.fields(try json.optional("headers")?.fields() ?? [:], type), content)
        if let member = json.optional("status") {
            guard let status = HTTPResponse.Status(code: try member.integer()) else {
                throw member.isNo("a status from 100 to 999")
            }
            self.status = status
        }
        delay = try json.optional("delay")?.seconds() ?? .zero
    }

    /// The content, and the type that its form adds.
    private static func content(_ json: JSONMember) throws -> (Content, type: String?) {
        let isNever = try json.optional("never")?.bool() == true
        let given = contents.filter { name in
            switch name {
            // Here, null is a value.
            case "json": json.value[name] != nil
            case "never": isNever
            default: json.optional(name) != nil
            }
        }
        guard given.count < 2 || given == ["chunks", "failure"] else {
            throw json.failure("has more than one content: \(given.joined(separator: ", "))")
        }
        if let value = json.value["json"] { return (.body(HTTPBody(value.data())), "application/json") }
        if let text = json.optional("text") { return (.body(HTTPBody(try text.string())), "text/plain; charset=utf-8") }
        if let bytes = json.optional("base64") { return (.body(HTTPBody(try bytes.base64())), nil) }
        if let file = json.optional("file") {
            let path = try file.string()
            guard path.hasPrefix("/"), !path.utf8.contains(0) else {
                throw file.isNo("a path that begins with a slash")
            }
            return (.file(URL(filePath: path)), StubContent.type(of: URL(filePath: path)))
        }
        let failure = try json.optional("failure").map(error)
        if let chunks = json.optional("chunks") {
            return (.chunks(try chunks.elements().map(Chunk.init), thenFailing: failure), nil)
        }
        if let failure { return (.failure(failure), nil) }
        return (isNever ? .never : .body(.empty), nil)
    }

    private static func error(_ json: JSONMember) throws -> TransportError {
        try json.expectNoMembers(but: ["code", "message"])
        let message = try json.optional("message")?.string() ?? "A stub answers with this failure."
        return TransportError(HTTPErrorCode(rawValue: try json.member("code").string()), message)
    }
}

extension StubAnswer.Chunk {
    fileprivate init(_ json: JSONMember) throws {
        try json.expectNoMembers(but: ["text", "base64", "after"])
        guard json.optional("text") == nil || json.optional("base64") == nil else {
            throw json.failure("has more than one content: text, base64")
        }
        let bytes = try json.optional("base64")?.base64() ?? Data(try json.optional("text")?.string().utf8 ?? "".utf8)
        self.init(bytes, after: try json.optional("after")?.seconds() ?? .zero)
    }
}

extension JSONMember {
    /// A number of seconds, to the nanosecond.
    fileprivate func seconds() throws -> Duration {
        let seconds = try number()
        guard 0...1e9 ~= seconds else { throw isNo("a number of seconds from 0 to 10⁹") }
        return .nanoseconds(Int64((seconds * 1e9).rounded()))
    }

    /// Fields, as a list of names and values.
    fileprivate func fields() throws -> HTTPFields {
        HTTPFields(
            try elements().map { pair in
                let texts = try pair.elements().map { try $0.string() }
                guard texts.count == 2, let name = HTTPField.Name(texts[0]),
                    let field = HTTPField(name: name, value: texts[1])
                else { throw pair.isNo("the name and the value of a field, without control characters") }
                return field
            }
        )
    }
}

// MARK: Writing

extension StubAnswer {
    fileprivate func members(_ stub: Stub) throws -> [OrderedJSON.Member] {
        func refusal(_ reason: String) -> TransportError {
            TransportError(.invalidLaunchStubs, "The stub \(stub) can't travel: \(reason)")
        }
        guard interims.isEmpty, trailers?.isEmpty ?? true else {
            throw refusal("interim responses and trailers have no form as JSON.")
        }
        guard onConnection == nil else { throw refusal("it needs a server's connection.") }
        var members: [OrderedJSON.Member] = []
        if status != 200 { members.append(("status", .integer(status.code))) }
        if !headers.isEmpty {
            let pairs = headers.map { OrderedJSON.array([.string($0.name.rawName), .string($0.value)]) }
            members.append(("headers", .array(pairs)))
        }
        if delay > .zero { members.append(("delay", .seconds(delay))) }
        switch content {
        case .body(let body):
            if let bytes = body.data {
                // Text gets a type, unless the answer has one.
                if !bytes.isEmpty { members.append(bytes.member(asText: headers.contains(.contentType))) }
            } else if let file = body.file {
                members.append(Self.member(file))
            } else {
                throw refusal("its body is a stream. Use .stream([…]).")
            }
        case .file(let file):
            guard file.isFileURL else { throw refusal("the URL isn't one of a file.") }
            members.append(Self.member(file))
        case .chunks(let chunks, let error):
            members.append(("chunks", .array(chunks.map(\.json))))
            if let error { members.append(try failure(error, refusal)) }
        case .failure(let error): members.append(try failure(error, refusal))
        case .never: members.append(("never", true))
        case .closure, .choice: throw refusal("its answer is a closure. Only values travel.")
        }
        return members
    }

    private static func member(_ file: URL) -> OrderedJSON.Member {
        ("file", .string(file.absoluteURL.standardizedFileURL.path))
    }

    private func failure(_ error: any Error, _ refusal: (String) -> TransportError) throws -> OrderedJSON.Member {
        guard let error = error as? any HTTPError else {
            throw refusal("only the code and the message of an HTTPError travel. Use a TransportError.")
        }
        return ("failure", ["code": .string(error.code.rawValue), "message": .string(error.message)])
    }
}

extension StubAnswer.Chunk {
    fileprivate var json: OrderedJSON {
        .object([bytes.member(asText: true)] + (pause > .zero ? [("after", .seconds(pause))] : []))
    }
}

extension Data {
    /// The bytes as the text that they are, or else in base64.
    fileprivate func member(asText: Bool) -> OrderedJSON.Member {
        if asText, let text = String(validating: self, as: UTF8.self) { return ("text", .string(text)) }
        return ("base64", .string(base64EncodedString()))
    }
}

extension OrderedJSON {
    fileprivate static func seconds(_ duration: Duration) -> Self { .number("\(duration / .seconds(1))") }
}
