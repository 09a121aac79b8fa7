internal import Foundation
internal import InterceptorsArchives
internal import InterceptorsSyntax

/// The members `request` and `response` of an entry in an HTTP Archive.
///
/// Sizes and the HTTP version are HAR's "unknown", −1 and an empty text, where a journal doesn't know them. Cookies are among the headers.
enum HARMessages {
    static func request(of step: JournalCall.Step) -> OrderedJSON {
        let request = step.request
        let url = request.url ?? ""
        return [
            "method": .string(request.method ?? ""),
            "url": .string(url),
            "httpVersion": .string(step.httpVersion ?? ""),
            "cookies": [],
            "headers": headers(request.fields),
            "queryString": HARParts.queryString(of: url),
            "postData": postData(of: request),
            "headersSize": -1,
            "bodySize": .integer(request.body.size ?? -1),
        ]
    }

    /// The status is 0, as in browsers, if the attempt failed or still runs.
    static func response(of step: JournalCall.Step) -> OrderedJSON {
        let response = step.response
        let status = response?.status ?? 0
        let fields = response?.fields ?? [:]
        return [
            "status": .integer(status),
            "statusText": .string(HTTPResponse.Status(code: status)?.reasonPhrase ?? ""),
            "httpVersion": .string(step.httpVersion ?? ""),
            "cookies": [],
            "headers": headers(fields),
            "content": content(of: response),
            "redirectURL": .string((300..<400).contains(status) ? fields.first(.location) ?? "" : ""),
            "headersSize": -1,
            // The transport may have decoded the content, so that its size isn't that of the bytes received.
            "bodySize": response?.body.size == 0 ? 0 : -1,
            "_error": step.error.map { .string($0) },
        ]
    }

    private static func headers(_ fields: HTTPFields) -> OrderedJSON {
        .array(fields.map { HARParts.record($0.name.rawName, $0.value) })
    }

    private static func mimeType(of message: JournalCall.Message) -> OrderedJSON {
        .string(message.fields.first(.contentType) ?? "")
    }

    private static func postData(of request: JournalCall.Message) -> OrderedJSON? {
        guard request.body.isStream || request.body.size != 0 || request.body.text != nil else { return nil }
        return [
            "mimeType": mimeType(of: request),
            "text": .string(request.body.text ?? ""),
            "comment": comment(on: request.body),
        ]
    }

    private static func content(of response: JournalCall.Message?) -> OrderedJSON {
        guard let response else { return ["size": 0, "mimeType": ""] }
        if response.isCut { return ["size": -1, "mimeType": "", "comment": "The journal kept only the status"] }
        return [
            "size": .integer(response.body.size ?? -1),
            "mimeType": mimeType(of: response),
            "text": response.body.text.map { .string($0) },
            "comment": comment(on: response.body),
        ]
    }

    private static func comment(on body: JournalCall.Body) -> OrderedJSON? {
        if body.isStream { return "A stream, whose content a journal doesn't read" }
        if body.text == nil, body.size != 0 { return "The journal kept no text of this content" }
        return body.isCut ? .string(HARParts.cutContent) : nil
    }
}
