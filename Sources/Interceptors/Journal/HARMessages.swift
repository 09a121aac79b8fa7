internal import Foundation
internal import HTTPSyntax
internal import Transport

/// The members `request` and `response` of an entry in an HTTP Archive.
///
/// Sizes and the HTTP version are HAR's "unknown", −1 and an empty text, where a journal doesn't know them.
enum HARMessages {
    static func request(of step: JournalCall.Step) -> OrderedJSON {
        let request = step.request
        let url = request.url ?? ""
        return [
            "method": .string(request.method ?? ""),
            "url": .string(url),
            "httpVersion": .string(step.httpVersion ?? ""),
            "cookies": .array(values(of: "cookie", in: request).flatMap(cookies)),
            "headers": headers(request.fields),
            "queryString": .array(queryString(of: url)),
            "postData": postData(of: request),
            "headersSize": -1,
            "bodySize": .integer(request.body.size ?? -1),
        ]
    }

    /// The status is 0, as in browsers, if the attempt failed or still runs.
    static func response(of step: JournalCall.Step) -> OrderedJSON {
        let response = step.response
        let status = response?.status ?? 0
        let fields = response?.fields ?? []
        let location = response.flatMap { values(of: "location", in: $0).first } ?? ""
        return [
            "status": .integer(Int64(status)),
            "statusText": .string(HTTPResponse.Status(code: status)?.reasonPhrase ?? ""),
            "httpVersion": .string(step.httpVersion ?? ""),
            "cookies": .array(response.map { values(of: "set-cookie", in: $0).compactMap(setCookie) } ?? []),
            "headers": headers(fields),
            "content": content(of: response),
            "redirectURL": .string((300..<400).contains(status) ? location : ""),
            "headersSize": -1,
            // The transport may have decoded the content, so that its size isn't that of the bytes received.
            "bodySize": response?.body.size == 0 ? 0 : -1,
            "_error": step.error.map { .string(text(of: $0)) },
        ]
    }

    private static func text(of error: JournalCall.Failure) -> String {
        let name = error.code.map { "\(error.type).\($0)" } ?? error.type
        return error.message.isEmpty ? name : "\(name): \(error.message)"
    }

    private static func headers(_ fields: [JournalCall.Field]) -> OrderedJSON {
        .array(fields.map { ["name": .string($0.name), "value": .string($0.value)] })
    }

    private static func values(of name: String, in message: JournalCall.Message) -> [String] {
        message.fields.filter { $0.name.lowercased() == name }.map(\.value)
    }

    private static func mimeType(of message: JournalCall.Message) -> OrderedJSON {
        .string(values(of: "content-type", in: message).first ?? "")
    }

    private static func postData(of request: JournalCall.Message) -> OrderedJSON? {
        guard request.body.isStream || request.body.size != 0 || request.body.text != nil else { return nil }
        // HAR has either of `params` and `text`.
        let isForm = values(of: "content-type", in: request).first?.lowercased()
            .hasPrefix("application/x-www-form-urlencoded")
        let form = isForm == true && !request.body.isCut ? request.body.text : nil
        return [
            "mimeType": mimeType(of: request),
            "params": form.map { .array(pairs(of: $0[...])) },
            "text": form == nil ? .string(request.body.text ?? "") : nil,
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
        return body.isCut ? "Only the beginning of the content" : nil
    }

    /// The parameters of a URL's query, decoded.
    static func queryString(of url: String) -> [OrderedJSON] {
        guard let query = url.prefix(while: { $0 != "#" }).split(separator: "?", maxSplits: 1).dropFirst().first else {
            return []
        }
        return pairs(of: query)
    }

    /// The pairs of a form or a query, decoded.
    private static func pairs(of form: Substring) -> [OrderedJSON] {
        form.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { part in
                let spaced = String(part.replacing("+", with: " "))
                return spaced.removingPercentEncoding ?? spaced
            }
            return ["name": .string(parts[0]), "value": .string(parts.count > 1 ? parts[1] : "")]
        }
    }

    /// The cookies of a field `Cookie` (RFC 6265 §4.2.1).
    private static func cookies(in value: String) -> [OrderedJSON] {
        value.split(separator: ";").compactMap { pair in
            nameAndValue(pair).map { ["name": .string($0), "value": .string($1)] }
        }
    }

    /// The cookie of a field `Set-Cookie` (RFC 6265 §4.1.1).
    private static func setCookie(_ value: String) -> OrderedJSON? {
        let parts = value.split(separator: ";", omittingEmptySubsequences: false)
        guard let (name, value) = parts.first.flatMap(nameAndValue) else { return nil }
        let attributes = parts.dropFirst().map { part in
            nameAndValue(part) ?? (part.trimmingCharacters(in: .whitespaces), "")
        }
        func attribute(_ name: String) -> String? { attributes.last { $0.0.lowercased() == name }?.1 }
        // A year with two digits is the one that is nearest to this fixed date; no server sends one today.
        let expires = attribute("expires").flatMap { HTTPDate.parse($0, now: 1_700_000_000) }
        return [
            "name": .string(name),
            "value": .string(value),
            "path": attribute("path").map { .string($0) },
            "domain": attribute("domain").map { .string($0) },
            "expires": expires.map { .string(HARFile.dateTime(microseconds: $0 * 1_000_000)) },
            "httpOnly": .bool(attribute("httponly") != nil),
            "secure": .bool(attribute("secure") != nil),
        ]
    }

    private static func nameAndValue(_ pair: Substring) -> (String, String)? {
        let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let (name, value) = (
            parts[0].trimmingCharacters(in: .whitespaces), parts[1].trimmingCharacters(in: .whitespaces)
        )
        return name.isEmpty ? nil : (name, value)
    }
}
