internal import Foundation
internal import InterceptorsArchives
internal import InterceptorsSyntax

/// Puts finished exchanges into their places among the entries of a recording, by their numbers. Doing so twice changes nothing, so
/// an interrupted merge is simply done again.
struct TapeMerge {
    let redaction: ExchangeRedaction

    /// All exchanges of a recording and its side file, redacted: another program or a person may have written secrets into the
    /// archive, and neither errors nor the next writing may repeat them.
    func exchanges(_ bytes: TapeBytes, file: String) throws -> [RecordedExchange] {
        let entries = try bytes.tape.map { try Self.decode($0, file: file) } ?? []
        let additions = try bytes.side.map { try Self.additions(in: $0, file: file + TapeFiles.sideSuffix) } ?? []
        return Self.merged(entries, additions).map(redaction.redacted)
    }

    /// Replaces the entries with the same numbers, and inserts the other exchanges behind those of lower numbers.
    ///
    /// The later of two additions with the same number counts.
    static func merged(_ entries: [RecordedExchange], _ additions: [RecordedExchange]) -> [RecordedExchange] {
        var result = numbered(entries)
        let indices = Dictionary(result.enumerated().map { ($1.number, $0) }) { $1 }
        var new: [Int64: RecordedExchange] = [:]
        for addition in additions {
            if let index = indices[addition.number] {
                result[index] = addition
            } else if let number = addition.number {
                new[number] = addition
            }
        }
        // From the last to the first. A higher number is there if an exchange ended after a `finish`.
        var later: [RecordedExchange] = []
        for (number, addition) in new.sorted(by: { $0.key > $1.key }) {
            while let last = result.last, last.number ?? 0 > number { later.append(result.removeLast()) }
            later.append(addition)
        }
        return result + later.reversed()
    }

    /// Numbers the entries that have none: those of other programs, and copies that a person has made. The same entries always get the
    /// same numbers, which are lower than those of recorded exchanges.
    private static func numbered(_ entries: [RecordedExchange]) -> [RecordedExchange] {
        var taken: Set<Int64> = []
        var result = entries
        for index in result.indices {
            guard let number = result[index].number, !taken.insert(number).inserted else { continue }
            result[index].number = nil
        }
        var last: Int64 = 0
        for index in result.indices where result[index].number == nil {
            repeat { last += 1 } while !taken.insert(last).inserted
            result[index].number = last
        }
        return result
    }

    private static func decode(_ archive: Data, file: String) throws -> [RecordedExchange] {
        do {
            return try HARArchive.decode(archive)
        } catch let error as TransportError {
            throw TransportError(error.code, "\(file): \(error.message)")
        }
    }

    /// The exchanges of a side file, in the order of its lines. A killed process and a full disk leave half a line, which isn't JSON.
    private static func additions(in side: Data, file: String) throws -> [RecordedExchange] {
        try side.split(separator: UInt8(ascii: "\n")).filter { (try? OrderedJSON(parsing: $0)) != nil }
            .flatMap { try decode($0, file: file) }
    }
}

/// The exchanges of a recording, by request.
struct TapeIndex: Sendable {
    let exchanges: [RecordedExchange]
    private let matching: RequestMatching
    private let redaction: ExchangeRedaction
    /// The indices of the exchanges of equal requests.
    private var series: [RequestKey: [Int]] = [:]
    let lastNumber: Int64

    init(_ exchanges: [RecordedExchange], _ matching: RequestMatching, _ redaction: ExchangeRedaction) {
        (self.exchanges, self.matching, self.redaction) = (exchanges, matching, redaction)
        lastNumber = exchanges.compactMap(\.number).max() ?? 0
        for (index, exchange) in exchanges.enumerated() {
            series[key(of: exchange.request), default: []].append(index)
        }
    }

    /// The key of a request, whether it is redacted or not.
    func key(of request: RecordedExchange.Request) -> RequestKey {
        let key = matching.key(of: request, redaction)
        // A key holds a whole content, and the keys of all entries are kept.
        return key.count > 1_024 ? PortableSHA256.digest(key) : key
    }

    /// The number of exchanges of requests with a key.
    func count(of key: RequestKey) -> Int { series[key]?.count ?? 0 }

    /// The index of the exchange at a position, from 1, among those of equal requests.
    func index(of key: RequestKey, _ ordinal: Int) -> Int? {
        guard let indices = series[key], ordinal <= indices.count else { return nil }
        return indices[ordinal - 1]
    }
}
