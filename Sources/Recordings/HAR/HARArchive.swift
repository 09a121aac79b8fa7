internal import Foundation
internal import InterceptorsArchives

/// Recorded exchanges as an HTTP Archive (HAR 1.2, http://www.softwareishard.com/blog/har-12-spec/), for a person to edit.
///
/// Reading uses few members: of a request the method, the URL, the headers and `postData`, and of a response the status, the
/// headers, `content` and `_error`. All others are for other programs, so a person needn't keep them in step.
///
/// Members that HAR 1.2 doesn't define begin with an underscore, as it asks:
/// - `_encoding` of `postData`: `base64`, if the content isn't UTF-8 text. `content` has `encoding` for that.
/// - `_chunks` of `content`: the sizes of a stream's chunks in bytes, and the pause before each in milliseconds. If a person
///   changes the content, the last chunk holds the rest.
/// - `_isEncoded` of `content`: the text is still under the coding that `Content-Encoding` names. Browsers write the name of the
///   coding and the decoded text.
/// - `_error` of `response`: the code and the message of a failure. With a status, the failure ended the content.
/// - `_id` of an entry: its number, by which lines of a side file find the entry they replace. An entry without it, or with that of an
///   earlier entry, gets a new one.
/// - `_omitted` of `postData`'s request and of `content`: why the content was left out.
enum HARArchive {
    /// The name in `creator` by which the reader knows an archive that needs no corrections.
    static let creator = "Interceptors Recordings"

    /// Reads an archive, of this package or of any other program.
    ///
    /// Entries that aren't HTTP exchanges are skipped: WebSockets, `data:` URLs, requests that were cancelled. In an archive of
    /// another program, fields that describe how the content was transferred are dropped, because the content is decoded.
    ///
    /// - Throws: `TransportError` with the code `unreadableFile`. The message names the entry and its member, and no value.
    static func decode(_ data: Data) throws -> [RecordedExchange] {
        let log = try JSONMember(parsing: data, as: .archive).member("log")
        let isOwn = try log.optional("creator")?.optional("name")?.string() == creator
        return try log.member("entries").elements().compactMap(HAREntryDecoder(isOwn: isOwn).exchange)
    }

    /// Writes an archive. The same exchanges give the same bytes.
    ///
    /// - Parameter exchanges: the exchanges, in the order of the entries. They must be redacted.
    static func encode(_ exchanges: [RecordedExchange]) -> Data { archive(exchanges).prettyData() }

    /// Writes an archive of one exchange as a line.
    static func encode(line exchange: RecordedExchange) -> Data { archive([exchange]).data() + Data("\n".utf8) }

    private static func archive(_ exchanges: [RecordedExchange]) -> OrderedJSON {
        let log: OrderedJSON = [
            "version": "1.2",
            "creator": ["name": .string(creator), "version": "1"],
            "entries": .array(exchanges.map(HAREntryEncoder.entry)),
        ]
        return ["log": log]
    }
}

/// Writes the entries of an archive. The members that a person edits come first. Cookies are among the headers.
enum HAREntryEncoder {
    static func entry(_ exchange: RecordedExchange) -> OrderedJSON {
        let wait = max(0, exchange.wait.wholeMicroseconds)
        let pauses = exchange.response?.chunks.map { Duration.microseconds(max(0, $0.pause.wholeMicroseconds)) } ?? []
        let receive = pauses.reduce(.zero, +).wholeMicroseconds
        return [
            "startedDateTime": .string(HARDate.text(exchange.startedAt)),
            "time": .milliseconds(microseconds: wait + receive),
            "request": request(exchange.request),
            "response": response(of: exchange),
            "cache": [:],
            "timings": [
                "send": 0, "wait": .milliseconds(microseconds: wait), "receive": .milliseconds(microseconds: receive),
            ],
            "_id": exchange.number.map { .integer($0) },
        ]
    }

    private static func request(_ request: RecordedExchange.Request) -> OrderedJSON {
        [
            "method": .string(request.method.rawValue),
            "url": .string(request.url),
            "headers": headers(request.headers),
            "postData": postData(of: request),
            "queryString": HARParts.queryString(of: request.url),
            "cookies": [],
            "httpVersion": "",
            "headersSize": -1,
            "bodySize": .integer(request.body?.count ?? -1),
            "_omitted": request.body == nil ? .string(request.omission ?? "") : nil,
        ]
    }

    private static func response(of exchange: RecordedExchange) -> OrderedJSON {
        let response = exchange.response
        let fields = response?.headers ?? [:]
        let isRedirect = response?.status.kind == .redirection
        return [
            "status": .integer(response?.status.code ?? 0),
            // A server's own phrase may be any text.
            "statusText": .string(response.flatMap { HTTPResponse.Status(code: $0.status.code)?.reasonPhrase } ?? ""),
            "headers": headers(fields),
            "content": response.map(content) ?? ["size": 0, "mimeType": ""],
            "_trailers": response?.trailers.map(headers),
            "_error": exchange.failure.map { ["code": .string($0.code), "message": .string($0.message)] },
            "redirectURL": .string(isRedirect ? fields.first(.location) ?? "" : ""),
            "cookies": [],
            "httpVersion": "",
            "headersSize": -1,
            "bodySize": -1,
        ]
    }

    private static func headers(_ fields: HTTPFields) -> OrderedJSON {
        // The reader refuses the others.
        .array(fields.filter(\.isRecordable).map { HARParts.record($0.name.rawName, $0.value) })
    }

    private static func postData(of request: RecordedExchange.Request) -> OrderedJSON? {
        guard let body = request.body, !body.isEmpty else { return nil }
        let text = text(of: body)
        return [
            "mimeType": .string(request.headers.first(.contentType) ?? ""),
            "text": .string(text.text),
            "_encoding": text.isBase64 ? "base64" : nil,
        ]
    }

    private static func content(of response: RecordedExchange.Response) -> OrderedJSON {
        let bytes = response.content
        let text = text(of: bytes)
        let chunks = response.chunks.map { chunk -> OrderedJSON in
            let pause = max(0, chunk.pause.wholeMicroseconds)
            return ["size": .integer(chunk.bytes.count), "pause": .milliseconds(microseconds: pause)]
        }
        return [
            "size": .integer(response.omission == nil ? bytes.count : -1),
            "mimeType": .string(response.headers.first(.contentType) ?? ""),
            "text": bytes.isEmpty ? nil : .string(text.text),
            "encoding": text.isBase64 ? "base64" : nil,
            "_isEncoded": response.headers.contains(.contentEncoding) && !bytes.isEmpty ? true : nil,
            "_chunks": response.isStream ? .array(chunks) : nil,
            "_omitted": response.omission.map { .string($0) },
        ]
    }

    private static func text(of bytes: Data) -> (text: String, isBase64: Bool) {
        if let text = String(validating: bytes, as: UTF8.self) { return (text, false) }
        return (bytes.base64EncodedString(), true)
    }
}

extension HTTPField {
    /// Whether the field can't pass for two: the name has no space, control character or colon, and the value no CR, LF or NUL.
    var isRecordable: Bool {
        let isNamed = !name.rawName.isEmpty && name.rawName.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != 0x3A }
        return isNamed && !value.utf8.contains { $0 == 0x00 || $0 == 0x0A || $0 == 0x0D }
    }
}
