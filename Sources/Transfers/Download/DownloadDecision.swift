internal import Interceptors
internal import InterceptorsSyntax

/// The missing rest of a representation.
struct RangeDemand: Sendable, Hashable {
    let representation: Representation
    /// The bytes to ask for.
    let range: Range<Int64>

    /// The missing rest, or `nil` to ask for the whole.
    ///
    /// - Parameter length: the number of bytes that are there. If all are there, the last one is asked for once more, because the
    ///   response must still say whether they are the server's current version. A 416 would not.
    init?(_ representation: Representation, held length: Int64) {
        let total = representation.total
        let start = length == total ? total - 1 : length
        guard start > 0, start < total else { return nil }
        self.representation = representation
        range = start..<total
    }

    /// Adds the fields that ask for the range, or for the whole if the representation has changed.
    func add(to fields: inout HTTPFields) {
        fields[.range] = "bytes=\(range.lowerBound)-"
        fields[.ifRange] = representation.validator
    }
}

/// How a response's content relates to the bytes of the part (RFC 9110 §14, §15.3.7, §15.5.17).
enum DownloadDecision: Sendable, Hashable {
    /// The content is whole and replaces all bytes. Without a representation, no later request can ask for the rest.
    case replace(Representation?)
    /// The content continues the bytes: it belongs to this range.
    case append(Range<Int64>)
    /// Neither the content nor the part is usable: request the whole.
    case startOver
    /// The content is coded although no coding was asked for: ask again, and let the transport decode it.
    case askForDecoded
    /// The content is unusable, and another attempt would get the same.
    case refuse(HTTPErrorCode, reason: String)

    /// Decides about a response whose status is a success, a 416, or any that the caller accepts.
    ///
    /// - Parameters:
    ///   - demand: the part that the request asked for; `nil` if it asked for the whole.
    ///   - avoidsCodings: whether a request for the whole asks for content without codings. Otherwise the transport chooses the codings,
    ///     and decodes the content.
    init(_ response: HTTPResponse, to demand: RangeDemand?, avoidsCodings: Bool = true) {
        let fields = response.headerFields
        switch (response.status.code, demand) {
        case (206, let demand?):
            self = Self.range(in: fields, for: demand).map { .append($0) } ?? .startOver
        case (206, nil):
            self = .refuse(
                .invalidRange,
                reason: "The server sent part of the content, although the request named no range."
            )
        case (416, _?):
            self = .startOver
        case (let code, let demand) where !Self.isContent(code, replacing: demand):
            self = .refuse(.unacceptedStatus, reason: "The status \(response.status) has no content to save.")
        case _ where ContentDecoding.isCoded(fields):
            self =
                avoidsCodings || demand != nil
                ? .askForDecoded
                : .refuse(.invalidResponse, reason: "The content is in a coding that the transport doesn't decode.")
        case (200, _):
            self = .replace(Representation(of: fields))
        default:
            self = .replace(nil)
        }
    }

    /// Whether the content of a response with this status may become the file. The bytes that a request continues give way to a 200 or
    /// 203 alone: any other success may be a report about the request instead of the content.
    private static func isContent(_ code: Int, replacing demand: RangeDemand?) -> Bool {
        code == 200 || code == 203 || demand == nil && 200..<300 ~= code && code != 204 && code != 205
    }

    /// The range of a partial response (RFC 9110 §15.3.7.1), or `nil` if the response can't continue the bytes: its content isn't
    /// exactly one range of uncoded bytes, or is of another place or version.
    private static func range(in fields: HTTPFields, for demand: RangeDemand) -> Range<Int64>? {
        // Several parts have their ranges in the content (§15.3.7.2).
        let values = fields[values: .contentRange]
        guard !ContentDecoding.isCoded(fields), values.count == 1, let content = ContentRange(values[0]),
            let range = content.bytes
        else { return nil }
        if fields.contains(.contentLength), fields.contentLength != range.upperBound - range.lowerBound { return nil }
        let (demanded, total) = (demand.range, demand.representation.total)
        // A server that doesn't know the total sends an asterisk (§14.4).
        guard range.lowerBound == demanded.lowerBound, range.upperBound <= demanded.upperBound,
            content.total ?? total == total, demand.representation.isConfirmed(by: fields)
        else { return nil }
        return range
    }
}
