internal import Foundation
internal import Interceptors

/// The content and the head that keep an exchange.
struct FolderFiles {
    typealias File = (path: [String], bytes: Data)

    var content: File?
    var head: File?

    /// `nil` if the exchange has no complete response.
    init?(_ exchange: RecordedExchange, in slot: FolderRecorder.Slot) {
        guard let response = exchange.response, exchange.failure == nil, response.omission == nil else { return nil }
        var fields = response.headerFields
        let received = response.content
        let isHead = exchange.request.method == .head
        fields.removeFraming(keepingLength: isHead)
        fields.removeAll { !$0.isValid }
        let type = fields[.contentType]
        let bytes = FileExtension.isJSON(type) ? Self.pretty(received) : received
        if bytes != received { fields.removeDigests() }
        let ending = received.isEmpty ? nil : FileExtension.of(type)
        let path = slot.name.path(number: slot.number, status: response.status.code, fileExtension: ending)
        if ending != nil { content = (path, bytes) }
        let isImplied = fields.count == 1 && type != nil && type == ending.flatMap(FileExtension.contentType)
        guard ending == nil || !(fields.isEmpty || isImplied) else { return }
        let headPath: [String] = path.dropLast() + [(path.last ?? "") + AnswerFileName.headEnding]
        let comment = "\(exchange.request.method) \(exchange.request.url)"
        head = (headPath, FolderHead(headerFields: fields).data(comment: comment))
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
