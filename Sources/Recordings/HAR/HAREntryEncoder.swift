internal import Foundation
internal import InterceptorsArchives

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
            "response": response(exchange.response, exchange.failure),
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

    private static func response(
        _ response: RecordedExchange.Response?,
        _ failure: RecordedExchange.Failure?
    ) -> OrderedJSON {
        let fields = response?.headers ?? [:]
        let isRedirect = response?.status.kind == .redirection
        return [
            "status": .integer(response?.status.code ?? 0),
            // A server's own phrase may be any text.
            "statusText": .string(response.flatMap { HTTPResponse.Status(code: $0.status.code)?.reasonPhrase } ?? ""),
            "headers": headers(fields),
            "content": response.map(content) ?? ["size": 0, "mimeType": ""],
            "_trailers": response?.trailers.map(headers),
            "_error": failure.map { ["code": .string($0.code), "message": .string($0.message)] },
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
