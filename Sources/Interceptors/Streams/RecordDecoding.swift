internal import Foundation
internal import Transport

/// Turns the records of one response into values.
struct RecordDecoding<Value: Decodable & Sendable>: Sendable {
    private let format: RecordReader.Format
    private let decoding: ResponseDecoding
    private let response: HTTPResponse

    init(format: RecordReader.Format, decoding: ResponseDecoding, response: HTTPResponse) {
        self.format = format
        self.decoding = decoding
        var head = response
        head.body = .empty
        self.response = head
    }

    private static var isText: Bool { Value.self == String.self || Value.self == Data.self }

    /// The format of a response: that of its `Content-Type`, or else lines.
    static func format(of response: HTTPResponse) -> RecordReader.Format {
        let type = response.headerFields[.contentType].map(ResponseDecoding.essence(of:)) ?? ""
        if type == "application/json-seq" || type.hasSuffix("+json-seq") { return .jsonSequence }
        return isText ? .text : .jsonLines
    }

    /// The values up to the first record that can't be decoded, and its error.
    func values(of records: [Record]) async -> (values: [Value], failure: (any Error)?) {
        if Self.isText { return (records.compactMap(text), nil) }
        return await decoded(records)
    }

    private func text(_ record: Record) -> Value? {
        if let bytes = record.bytes as? Value { return bytes }
        return HTTPResponse.text(record.bytes, contentType: response.headerFields[.contentType]) as? Value
    }

    // Decoding may be slow, so it runs off the caller's actor.
    @concurrent
    private func decoded(_ records: [Record]) async -> (values: [Value], failure: (any Error)?) {
        var values: [Value] = []
        values.reserveCapacity(records.count)
        do {
            for record in records {
                let part = "\(format.noun) \(record.number)"
                values.append(try decoding.decode(Value.self, from: record.bytes, part: part, of: response))
            }
            return (values, nil)
        } catch {
            if let failure = error as? DecodingFailure {
                for observe in response.context.decodingObservers { observe(failure) }
            }
            return (values, error)
        }
    }
}
