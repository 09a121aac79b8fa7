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
        let fields = response.headers
        switch (response.status.code, demand) {
        case (206, let demand?):
            self = Self.range(in: fields, for: demand).map { .append($0) } ?? .startOver
        case (206, nil):
            self = .refuse(.invalidRange, reason: "The server sent a part, although the request named no range.")
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

/// A version of a resource, with a validator strong enough to request the rest of it.
struct Representation: Codable, Sendable, Hashable {
    /// The value of `If-Range` (RFC 9110 §13.1.5): a strong entity tag, or a strong date. Either tells versions apart byte by byte
    /// (§8.8.1).
    let validator: String
    /// The number of bytes of the whole.
    let total: Int64
}

extension Representation {
    /// Longer tags aren't kept, because a record on the disk has a fixed size.
    private static let tagLimit = 400
    /// §8.8.2.2 asks for a second between `Last-Modified` and `Date`, and for a reason to believe that both times are of one clock. A
    /// minute makes up for clocks that differ a little.
    private static let distance: Int64 = 60

    /// The representation in a complete response, or `nil` if no later request could ask for the rest.
    ///
    /// Coded content is never kept: a range would count coded bytes. A decoded body has lost its
    /// `Content-Length`, so content that a transport decoded isn't kept either.
    init?(of fields: HTTPFields) {
        guard !ContentDecoding.isCoded(fields), let total = fields.contentLength, total > 0,
            fields[.acceptRanges]?.lowercased() != "none", let validator = Self.validator(of: fields)
        else { return nil }
        self.init(validator: validator, total: total)
    }

    private static func validator(of fields: HTTPFields) -> String? {
        // §13.1.5: with an entity tag, even a weak one, the date must not be used.
        guard !fields.contains(.eTag) else {
            guard let tag = fields.entityTag, !tag.isWeak, tag.opaque.allSatisfy({ $0 < 0x80 }),
                tag.description.utf8.count <= tagLimit
            else { return nil }
            return tag.description
        }
        // A date doesn't tell apart two representations that were made at once, one for each user or language.
        let selecting = fields[values: .vary].flatMap(TokenList.firstWords)
        guard let modified = fields.time(.lastModified), let date = fields.time(.date), date - modified >= distance,
            selecting.allSatisfy({ $0 == "accept-encoding" || $0 == "origin" })
        else { return nil }
        return fields[.lastModified]
    }

    /// Whether a partial response can belong to this representation. A response to `If-Range` may leave out `Last-Modified`, but not
    /// `ETag` (§15.3.7).
    func isConfirmed(by fields: HTTPFields) -> Bool {
        guard let tag = EntityTag(validator) else {
            return fields[values: .lastModified].allSatisfy { $0 == validator }
        }
        return fields.entityTag?.matchesStrongly(tag) == true
    }
}

extension HTTPFields {
    /// The only `ETag`; `nil` for no field or several.
    fileprivate var entityTag: EntityTag? {
        let values = self[values: .eTag]
        return values.count == 1 ? EntityTag(values[0]) : nil
    }

    /// The time of a field, in seconds; `nil` without exactly one date.
    fileprivate func time(_ name: HTTPField.Name) -> Int64? {
        let values = self[values: name]
        // A date with a two-digit year is of the last century; no server has sent one for decades.
        return values.count == 1 ? HTTPDate.parse(values[0], now: 0) : nil
    }

    /// The `Content-Length`; `nil` if it is missing or isn't a number.
    var contentLength: Int64? {
        guard let text = self[.contentLength], !text.isEmpty, text.utf8.allSatisfy(ASCII.isDigit) else { return nil }
        return Int64(text)
    }
}
