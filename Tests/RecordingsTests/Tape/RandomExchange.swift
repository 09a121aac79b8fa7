import Foundation
import TestSupport

@testable import Recordings

/// A random request and the answer of its server: methods, fields of all shapes, contents in memory and streamed, binary and text,
/// failures before and within the content. It holds nothing that a redaction replaces.
struct RandomExchange {
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
        request = HTTPRequest(method: method, url: url, headerFields: Self.fields(&random))
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
        return fields
    }

    private static func bytes(_ random: inout SeededGenerator) -> Data {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return Data()
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
        let chunks = (0..<Int.random(in: 0..<5, using: &random)).map { _ in bytes(&random) }.filter { !$0.isEmpty }
        let isCut = Int.random(in: 0..<5, using: &random) == 0
        return .stream(chunks, thenFailing: isCut ? failure : nil, status: status, headers: fields)
    }

    /// What a caller sees of a response.
    struct Seen: Equatable {
        var status: Int?
        var fields = HTTPFields()
        var chunks: [Data] = []
        var failure: HTTPErrorCode?
        var message: String?

        /// Reads a response to its end.
        init(_ send: () async throws -> HTTPResponse) async throws {
            do {
                let response = try await send()
                status = response.status.code
                fields = response.headerFields
                for try await chunk in response.body { chunks.append(chunk) }
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
