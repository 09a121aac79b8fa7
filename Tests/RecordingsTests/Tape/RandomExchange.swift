import Foundation
import InterceptorsTestSupport

@testable import InterceptorsRecordings

/// A random request and the answer of its server: methods, fields of all shapes, contents in memory and streamed, binary and text,
/// failures before and within the content, and secrets in fields, cookies, query items, forms and JSON.
struct RandomExchange {
    /// Every secret contains this text, and nothing else does.
    static let secret = "s3cr3tV4lue"

    var request: HTTPRequest
    var answer: StubAnswer
    /// The content of the request.
    private(set) var content = Data()

    private static let words = [
        "a", "Zoë", "b c", "naïve", "日本", "x-y", "1.5", "e\u{301}", "tab\there", "quote\"", "back\\slash",
    ]
    private static let types = [
        "application/json", "text/plain; charset=utf-8", "application/octet-stream", "image/png", "text/html",
        "application/x-www-form-urlencoded", "",
    ]

    init(_ random: inout SeededGenerator, host: String) {
        let methods: [HTTPRequest.Method] = [.get, .get, .get, .post, .put, .patch, .delete, .head, "PURGE"]
        let method = random.oneOf(methods)
        // Few paths, so that many requests are equal.
        var url = URL(string: "\(host)/\(Int.random(in: 0..<40, using: &random))") ?? URL(filePath: "/")
        if Bool.random(using: &random) {
            url.append(queryItems: [URLQueryItem(name: "q", value: random.oneOf(Self.words))])
        }
        if Int.random(in: 0..<4, using: &random) == 0 {
            url.append(queryItems: [URLQueryItem(name: random.oneOf(["token", "otp", "sig"]), value: Self.secret)])
        }
        request = HTTPRequest(method: method, url: url, headers: Self.fields(&random))
        if Int.random(in: 0..<3, using: &random) == 0, method != .get, method != .head {
            content = Self.bytes(&random)
            request.body = Self.body(content, &random)
        }
        request.context.responseBody = Bool.random(using: &random) ? .buffered : .streamed
        answer = Self.answer(&random)
    }

    private static func fields(_ random: inout SeededGenerator) -> HTTPFields {
        var fields = HTTPFields()
        for _ in 0..<Int.random(in: 0..<6, using: &random) {
            guard let name = HTTPField.Name(random.oneOf(["Accept", "X-A", "x-a", "ETag", "Link", "Vary", "Via"]))
            else { continue }
            let value = Int.random(in: 0..<4, using: &random) == 0 ? "" : random.oneOf(words)
            fields.append(name, value)
        }
        if Int.random(in: 0..<3, using: &random) == 0 {
            fields.append(random.oneOf(secretFields(random.oneOf(["", "é", "-1"]))))
        }
        return fields
    }

    private static func secretFields(_ ending: String) -> [HTTPField] {
        let secret = secret + ending
        return [
            .init(unchecked: .authorization, "Bearer \(secret)"), .init(unchecked: "X-Api-Key", secret),
            .init(unchecked: .cookie, "sid=\(secret); b=\(secret)"),
            .init(unchecked: .setCookie, "sid=\(secret); Path=/; Expires=Wed, 09-Nov-2026 23:12:40 GMT; Own=\(secret)"),
            .init(unchecked: .location, "https://ada:\(secret)@b.example/?token=\(secret)&a=1"),
            .init(unchecked: .link, "<https://b.example/?token=\(secret)>; rel=\"next\""),
        ]
    }

    /// JSON, a form or text with a secret.
    private static func secretText(_ random: inout SeededGenerator) -> String {
        let ending = random.oneOf(["", "é", "\\u00e9", "\\\"", ", a: b"])
        return random.oneOf([
            #"{"access_token":"\#(secret)\#(ending)","prompt_tokens":12,"a":[0,1]}"#,
            #"[{"token":[{"a":1.5},"\#(secret)",true,null]},0]"#, "a=1&password=\(secret)&b=2",
            #"{"body":"{\"password\":\"\#(secret)\"}"}"#, "see https://ada:\(secret)@a.example/?token=\(secret)",
        ])
    }

    /// - Parameter mayBeSecret: whether the bytes may be text with a secret.
    private static func bytes(_ random: inout SeededGenerator, mayBeSecret: Bool = true) -> Data {
        switch Int.random(in: 0..<(mayBeSecret ? 8 : 6), using: &random) {
        case 0: return Data()
        case 6, 7: return Data(secretText(&random).utf8)
        case 1:
            return Data(
                (0..<Int.random(in: 1..<200, using: &random)).map { _ in UInt8.random(in: .min ... .max, using: &random)
                }
            )
        case 2: return Data(#"{"name":"\#(random.oneOf(["Ada", "Zoë", "日本"]))","n":[1,2.50,null,true]}"#.utf8)
        case 3: return Data((random.oneOf(words) + "\r\n\u{0}\u{7F}\u{2028}<&>").utf8)
        case 4: return Data([0xEF, 0xBB, 0xBF]) + Data(random.oneOf(words).utf8)
        default: return Data(String(repeating: random.oneOf(words), count: Int.random(in: 1..<60, using: &random)).utf8)
        }
    }

    private static func body(_ content: Data, _ random: inout SeededGenerator) -> HTTPBody {
        switch Int.random(in: 0..<3, using: &random) {
        case 0: return HTTPBody(content)
        case 1: return .restartable { OneChunk(bytes: content) }
        default: return .oneShot(OneChunk(bytes: content), length: Int64(content.count))
        }
    }

    private static func answer(_ random: inout SeededGenerator) -> StubAnswer {
        let codes: [HTTPErrorCode] = [.connectionLost, .timedOut, .offline, .truncated, .invalidResponse, .tlsFailed]
        let failure = TransportError(random.oneOf(codes), "Random: \(random.oneOf(words)).")
        if Int.random(in: 0..<12, using: &random) == 0 { return .failure(failure) }
        var fields = fields(&random)
        let type = random.oneOf(types)
        if !type.isEmpty { fields.append(.contentType, type) }
        let codesOfStatus = [200, 200, 200, 201, 204, 206, 302, 304, 404, 418, 503, 599]
        let status = HTTPResponse.Status(code: random.oneOf(codesOfStatus)) ?? 200
        guard Bool.random(using: &random) else { return .data(bytes(&random), status: status, headers: fields) }
        var chunks = (0..<Int.random(in: 0..<5, using: &random)).map { _ in bytes(&random, mayBeSecret: false) }
        if Int.random(in: 0..<3, using: &random) == 0 {
            // One text, cut anywhere.
            let text = Data(secretText(&random).utf8)
            let size = Int.random(in: 1...60, using: &random)
            chunks = stride(from: 0, to: text.count, by: size).map { Data(text.dropFirst($0).prefix(size)) }
        }
        chunks.removeAll(where: \.isEmpty)
        let isCut = Int.random(in: 0..<5, using: &random) == 0
        var trailers = HTTPFields()
        if Int.random(in: 0..<3, using: &random) == 0 { trailers = Self.fields(&random) }
        return .stream(chunks, thenFailing: isCut ? failure : nil, trailers: trailers, status: status, headers: fields)
    }

    /// A response as its caller sees it.
    struct Seen: Equatable {
        var status: Int?
        var fields = HTTPFields()
        var chunks: [Data] = []
        var trailers: HTTPFields?
        var failure: HTTPErrorCode?
        var message: String?

        /// The same response after redaction.
        func redacted(isStream: Bool) -> Self {
            var exchange = RecordedExchange(
                startedAt: .now,
                request: RecordedExchange.Request(method: .get, url: "https://a.example/")
            )
            exchange.response = status.flatMap { HTTPResponse.Status(code: $0) }.map { status in
                let chunks = chunks.map { StubAnswer.Chunk($0) }
                return .init(
                    status: status,
                    headers: fields,
                    chunks: chunks,
                    isStream: isStream,
                    trailers: trailers
                )
            }
            if let failure { exchange.failure = .init(code: failure.rawValue, message: message ?? "") }
            let redacted = ExchangeRedaction.standard.redacted(exchange)
            var seen = self
            seen.fields = redacted.response?.headers ?? fields
            seen.trailers = redacted.response?.trailers
            seen.chunks = redacted.response?.chunks.map(\.bytes).filter { !$0.isEmpty } ?? []
            seen.message = redacted.failure?.message
            return seen
        }

        /// Reads a response to its end.
        init(_ send: () async throws -> HTTPResponse) async throws {
            do {
                let response = try await send()
                status = response.status.code
                fields = response.headers
                for try await chunk in response.body { chunks.append(chunk) }
                trailers = try response.trailers
            } catch let error as TransportError {
                failure = error.code
                message = error.message
            }
        }
    }
}

struct OneChunk: AsyncSequence, Sendable {
    let bytes: Data

    struct Iterator: AsyncIteratorProtocol {
        var rest: Data?
        mutating func next() async throws -> Data? {
            defer { rest = nil }
            return rest
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(rest: bytes) }
}
