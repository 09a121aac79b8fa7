internal import Foundation
internal import InterceptorsCore
internal import InterceptorsSyntax

/// The content and the head that keep an exchange.
struct FolderFiles {
    /// The path of the content file, even if the answer has no content.
    let path: [String]
    var content: Data?
    var head: Data?

    var headPath: [String] { path.dropLast() + [headName] }
    private var headName: String { (path.last ?? "") + AnswerFileName.headEnding }

    /// `nil` if files don't keep the exchange.
    init?(_ exchange: RecordedExchange, name: FolderName, number: Int) {
        guard let response = exchange.response, Self.keeps(exchange) else { return nil }
        var fields = response.headerFields
        let received = response.content
        let isHead = exchange.request.method == .head
        fields.removeFraming(keepingLength: isHead)
        fields.removeAll { !$0.isValid }
        let type = fields[.contentType]
        let bytes = FileExtension.isJSON(type) ? Self.pretty(received) : received
        if bytes != received { fields.removeDigests() }
        let ending = received.isEmpty ? nil : FileExtension.of(type)
        path = name.path(number: number, status: response.status.code, fileExtension: ending)
        if ending != nil { content = bytes }
        let isImplied = fields.count == 1 && type != nil && type == ending.flatMap(FileExtension.contentType)
        guard ending == nil || !(fields.isEmpty || isImplied) else { return }
        let comment = "\(exchange.request.method) \(exchange.request.url)"
        head = FolderHead(headerFields: fields).data(comment: comment)
    }

    /// Whether files keep an exchange: its response is complete, and not only for requests with the same conditions.
    static func keeps(_ exchange: RecordedExchange) -> Bool {
        guard let response = exchange.response, exchange.failure == nil, response.omission == nil else { return false }
        return !isConditional(response.status, exchange.request.headerFields)
    }

    private static let conditions: [HTTPField.Name] = [
        .ifNoneMatch, .ifModifiedSince, .ifMatch, .ifUnmodifiedSince, .ifRange,
    ]

    /// Whether a response says something only about content that the client has (RFC 9110 §13.1), or about a part of the content
    /// (§14). The names of files don't tell such requests from others, so the response would take the place of a whole one.
    private static func isConditional(_ status: HTTPResponse.Status, _ fields: HTTPFields) -> Bool {
        switch status {
        case 304: conditions.contains { fields.contains($0) }
        case 206, 416: fields.contains(.range)
        default: false
        }
    }

    /// The changes of the folder that put the files in the place of others.
    ///
    /// A killed process may stop after any of them. Until the last one, the folder has the old answer, the new one, or none. It
    /// never has the content of one answer with the head of the other.
    ///
    /// The old files go first: on a file system that ignores case, `logo.PNG` may be the new `logo.png`.
    ///
    /// - Parameters:
    ///   - content: the temporary file with the content, if there is any.
    ///   - head: the temporary file with the head, if there is one.
    ///   - stale: the files of the old answers, sorted.
    func steps(content: [String]?, head: [String]?, replacing stale: [[String]]) -> [FolderPath.Step] {
        // In this order, each content comes before its head. Without its content, a head answers nothing.
        var steps = stale.filter { $0 != path && $0 != headPath }.map(FolderPath.Step.remove) + [.remove(path)]
        steps.append(head.map { .rename($0, to: headName) } ?? .remove(headPath))
        if let content { steps.append(.rename(content, to: path.last ?? "")) }
        return steps
    }

    /// JSON with line breaks and indents; other content unchanged.
    private static func pretty(_ bytes: Data) -> Data {
        guard let text = String(validating: bytes, as: UTF8.self),
            (try? JSONSerialization.jsonObject(with: bytes, options: .fragmentsAllowed)) != nil,
            let pretty = JSONIndentation.indented(text)
        else { return bytes }
        return Data((pretty + "\n").utf8)
    }
}
