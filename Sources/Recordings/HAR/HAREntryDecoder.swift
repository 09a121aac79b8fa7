internal import Foundation
internal import InterceptorsArchives
internal import InterceptorsSyntax

/// Reads the entries of an archive.
struct HAREntryDecoder {
    /// Whether this package wrote the archive, so that nothing needs correction.
    let isOwn: Bool
    /// Playwright can keep a content in a file beside the archive.
    private static let isElsewhere =
        "The content is in a file beside the HTTP Archive. Record with Playwright's `content: 'embed'`."

    /// The exchange of an entry; `nil` if it isn't an HTTP exchange.
    func exchange(_ entry: JSONMember) throws -> RecordedExchange? {
        let (request, response) = (try entry.member("request"), try entry.member("response"))
        let url = try request.member("url").string()
        let scheme = url.prefix { $0 != ":" }.lowercased()
        guard scheme == "http" || scheme == "https", entry.optional("_webSocketMessages") == nil else { return nil }
        let status = try response.member("status").integer()
        guard status != 101, let failure = try failure(response, status: status) else { return nil }
        let started = try entry.member("startedDateTime")
        guard let startedAt = HARDate.parse(try started.string()) else { throw started.isNo("a time in ISO 8601") }
        var exchange = RecordedExchange(
            number: isOwn ? entry.optional("_id").flatMap(Self.number) : nil,
            startedAt: startedAt,
            wait: try wait(entry),
            request: try self.request(request, url: url),
            failure: failure
        )
        if status > 0 { exchange.response = try self.response(response, of: exchange) }
        return exchange
    }

    /// An entry's number; `nil` for any other value, and for a number that JSON's readers can't tell from its successor.
    private static func number(_ id: JSONMember) -> Int64? {
        (try? id.number()).flatMap(Int64.init(exactly:)).flatMap { 0..<(1 << 53) ~= $0 ? $0 : nil }
    }

    /// The time to the head, of which browsers measure the parts. `ssl` is a part of `connect`.
    private func wait(_ entry: JSONMember) throws -> Duration {
        guard let timings = entry.optional("timings") else { return .zero }
        return try ["blocked", "dns", "connect", "send", "wait"].reduce(.zero) { sum, name in
            sum + (try timings.optional(name)?.milliseconds() ?? .zero)
        }
    }

    // MARK: Failures

    /// The failure of an entry, if any; `nil` if its caller cancelled it, so that there is nothing to play.
    private func failure(_ response: JSONMember, status: Int) throws -> RecordedExchange.Failure?? {
        let usual: HTTPErrorCode = status > 0 ? .truncated : .transportFailed
        guard let error = response.optional("_error") ?? response.optional("_failureText") else {
            let message = "The HTTP Archive has no response to this request."
            return .some(status > 0 ? nil : RecordedExchange.Failure(code: usual.rawValue, message: message))
        }
        if case .object = error.value {
            let message = try error.optional("message")?.string() ?? ""
            return RecordedExchange.Failure(code: try error.member("code").string(), message: message)
        }
        let text = try error.string()
        if Self.cancellations.contains(where: text.contains) { return nil }
        // A journal writes the error's type and code, other programs anything.
        let journal = "TransportError."
        let code = text.hasPrefix(journal) ? String(text.dropFirst(journal.count).prefix { $0 != ":" }) : nil
        return RecordedExchange.Failure(code: code ?? usual.rawValue, message: text)
    }

    private static let cancellations = ["ERR_ABORTED", "NS_BINDING_ABORTED", "CancellationError", "cancelled"]

    // MARK: Requests

    private func request(_ member: JSONMember, url: String) throws -> RecordedExchange.Request {
        let method = try member.member("method")
        guard let name = HTTPRequest.Method(rawValue: try method.string()) else { throw method.isNo("a method") }
        let headers = try fields(member.optional("headers"))
        var request = RecordedExchange.Request(method: name, url: url, headers: headers)
        (request.body, request.omission) = try body(member)
        return request
    }

    private func body(_ request: JSONMember) throws -> (bytes: Data?, omission: String?) {
        if let omitted = try request.optional("_omitted")?.string() { return (nil, omitted.isEmpty ? nil : omitted) }
        let absent = "The HTTP Archive has no content of this request."
        guard let postData = request.optional("postData") else {
            return try request.optional("bodySize")?.integer() ?? 0 > 0 ? (nil, absent) : (Data(), nil)
        }
        if postData.optional("_file") != nil { return (nil, Self.isElsewhere) }
        if postData.optional("comment")?.value.string == HARParts.cutContent { return (nil, absent) }
        let text = try postData.content(encoding: postData.optional("_encoding") == nil ? "encoding" : "_encoding")
        let parameters = try postData.optional("params")?.elements() ?? []
        if let text, !text.isEmpty || parameters.isEmpty { return (text, nil) }
        let type = try postData.optional("mimeType")?.string() ?? ""
        guard parameters.isEmpty || MediaType(type).isForm else { return (nil, absent) }
        return (Data(try form(parameters).utf8), nil)
    }

    private func form(_ parameters: [JSONMember]) throws -> String {
        try parameters.map { parameter in
            let name = PercentEncoding.component(try parameter.member("name").string())
            return name + "=" + PercentEncoding.component(try parameter.optional("value")?.string() ?? "")
        }
        .joined(separator: "&")
    }

    private func fields(_ list: JSONMember?) throws -> HTTPFields {
        var fields = HTTPFields()
        for header in try list?.elements() ?? [] {
            let name = try header.member("name").string()
            let value = try header.optional("value")?.string() ?? ""
            // HTTP/2's pseudo fields, such as `:authority`, repeat what the URL and the status say.
            guard !name.hasPrefix(":"), !name.isEmpty else { continue }
            // Chrome joins fields of one name, such as several `Set-Cookie`, with line breaks.
            for value in isOwn ? [value] : Self.lines(of: value) {
                let field = HTTPField(unchecked: .init(stringLiteral: name), value)
                if field.isRecordable {
                    fields.append(field)
                } else if isOwn {
                    throw header.isNo("a field with a name without spaces and a value on one line")
                }
            }
        }
        return fields
    }

    /// The lines of a text, by bytes: Swift takes a CR and an LF for one character.
    private static func lines(of text: String) -> [String] {
        text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
            String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
        }
    }

    // MARK: Responses

    private func response(_ member: JSONMember, of exchange: RecordedExchange) throws -> RecordedExchange.Response {
        guard let status = HTTPResponse.Status(code: try member.member("status").integer()) else {
            throw member.isNo("a response with a status")
        }
        var response = RecordedExchange.Response(status: status, headers: try fields(member.optional("headers")))
        response.trailers = try member.optional("_trailers").map { try fields($0) }
        let content = member.optional("content")
        var bytes = try content?.content(encoding: "encoding")
        let hasContent = HTTPResponse.hasContent(status: status.code, answering: exchange.request.method)
        // Programs don't keep the content of a redirection.
        let needsContent = hasContent && status.kind != .redirection
        if let content, let omission = try omission(content, bytes, hasContent: needsContent) {
            response.omission = omission
            bytes = nil
        }
        let isWhole = hasContent && exchange.failure == nil && response.omission == nil
        try correct(&response.headers, &bytes, content, isWhole: isWhole)
        if let chunks = content?.optional("_chunks") {
            response.isStream = true
            response.chunks = try split(bytes ?? Data(), chunks)
        } else if let bytes, !bytes.isEmpty {
            response.chunks = [StubAnswer.Chunk(bytes)]
        }
        return response
    }

    /// Makes a response's fields agree with its content. Other programs write content without codings, and text as Unicode; a
    /// person may have edited the content of any archive, or have pasted an entry of another program.
    ///
    /// - Parameter isWhole: whether such a response has content, and all of it arrived and was kept.
    private func correct(
        _ fields: inout HTTPFields,
        _ bytes: inout Data?,
        _ content: JSONMember?,
        isWhole: Bool
    ) throws {
        let isEncoded = try content?.optional("_isEncoded")?.bool() == true
        if !isEncoded, !isOwn || bytes != nil && fields.contains(.contentEncoding) {
            if !isWhole, fields.contains(.contentEncoding) { fields.remove(.contentLength) }
            // The others describe the connection to the recorded server.
            for name in [HTTPField.Name.contentEncoding, .transferEncoding, .connection, .keepAlive] {
                fields.remove(name)
            }
            // Text gets the charset of its type. Text that the charset can't express, or of an unknown charset, stays UTF-8.
            let isText = content?.optional("text") != nil && content?.optional("encoding") == nil
            if isText, let utf8 = bytes, let encoding = fields.first(.contentType).flatMap(HTTPResponse.encoding) {
                bytes = encoding == .utf8 ? utf8 : String(decoding: utf8, as: UTF8.self).data(using: encoding) ?? utf8
            }
        }
        if isWhole, fields.contains(.contentLength) { fields[.contentLength] = String(bytes?.count ?? 0) }
    }

    private func omission(_ content: JSONMember, _ bytes: Data?, hasContent: Bool) throws -> String? {
        if let omitted = content.optional("_omitted") { return try omitted.string() }
        if hasContent, content.optional("_file") != nil { return Self.isElsewhere }
        let isCut = content.optional("comment")?.value.string == HARParts.cutContent
        let isAbsent = try bytes == nil && hasContent && content.optional("size")?.integer() ?? 0 != 0
        return isCut || isAbsent ? "The HTTP Archive doesn't hold this content." : nil
    }

    /// The content in chunks. If a person has changed the content, the last chunk holds the rest.
    private func split(_ content: Data, _ list: JSONMember) throws -> [StubAnswer.Chunk] {
        var start = content.startIndex
        var result = try list.elements().map { chunk in
            let size = try chunk.member("size").integer()
            guard size >= 0 else { throw chunk.isNo("a chunk with a size") }
            let end = start + min(size, content.endIndex - start)
            defer { start = end }
            let pause = try chunk.optional("pause")?.milliseconds() ?? .zero
            return StubAnswer.Chunk(Data(content[start..<end]), after: pause)
        }
        guard start < content.endIndex else { return result }
        if result.isEmpty { return [StubAnswer.Chunk(content)] }
        result[result.count - 1].bytes += content[start...]
        return result
    }
}

extension JSONMember {
    /// The text of this object as bytes: the member `text`, under the encoding that another member names.
    fileprivate func content(encoding name: String) throws -> Data? {
        guard let text = optional("text") else { return nil }
        guard let encoding = optional(name) else { return Data(try text.string().utf8) }
        switch try encoding.string().lowercased() {
        case "base64": return try text.base64()
        case "": return Data(try text.string().utf8)
        default: throw encoding.isNo("base64, the only encoding of an archive")
        }
    }
}
