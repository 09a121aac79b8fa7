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
