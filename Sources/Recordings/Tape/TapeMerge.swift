internal import Foundation
internal import Transport

/// Puts finished exchanges into their places among the entries of a recording. Doing so twice changes nothing, so an interrupted
/// merge is simply done again.
struct TapeMerge {
    let rules: TapeRules

    /// An exchange, and its position among the entries for equal requests, from 1.
    struct Addition {
        let ordinal: Int
        let exchange: RecordedExchange
    }

    /// All exchanges of a recording and its side file, redacted: another program or a person may have written secrets into the
    /// archive, and neither errors nor the next writing may repeat them.
    func exchanges(_ bytes: TapeBytes, file: String) throws -> [RecordedExchange] {
        let entries = try bytes.tape.map { try Self.decode($0, file: file) } ?? []
        let additions = try bytes.side.map { try Self.additions(in: $0, file: file + " (side file)") } ?? []
        return (additions.isEmpty ? entries : merged(entries, additions)).map(rules.redaction.redacted)
    }

    /// Replaces entries in their places, and adds the others behind, in the order of their time.
    ///
    /// Of two additions with the same position, the later one counts. Positions that a recording left out, because a call was
    /// cancelled, close up.
    func merged(_ entries: [RecordedExchange], _ additions: [Addition]) -> [RecordedExchange] {
        var result = entries
        var series: [TapeRules.Key: [Int]] = [:]
        for (index, entry) in entries.enumerated() { series[rules.key(of: entry.request), default: []].append(index) }
        var added: [TapeRules.Key: [Int: Placed]] = [:]
        for (order, addition) in additions.enumerated() {
            let key = rules.key(of: addition.exchange.request)
            if let indices = series[key], addition.ordinal <= indices.count {
                result[indices[addition.ordinal - 1]] = addition.exchange
            } else {
                added[key, default: [:]][addition.ordinal] = Placed(exchange: addition.exchange, order: order)
            }
        }
        return result + inOrder(added)
    }

    private struct Placed {
        let exchange: RecordedExchange
        /// The place among all additions.
        let order: Int
    }

    /// The additions by time, and those for equal requests by position: clocks can move back.
    private func inOrder(_ added: [TapeRules.Key: [Int: Placed]]) -> [RecordedExchange] {
        let slots = added.flatMap { key, exchanges in exchanges.values.map { (key, $0) } }.sorted { one, other in
            (one.1.exchange.startedAt, one.1.order) < (other.1.exchange.startedAt, other.1.order)
        }
        var rest = added.mapValues { exchanges in exchanges.sorted { $0.key > $1.key }.map(\.value.exchange) }
        return slots.compactMap { rest[$0.0]?.popLast() }
    }

    private static func decode(_ archive: Data, file: String) throws -> [RecordedExchange] {
        do {
            return try HARArchive.decode(archive) { name in
                // Playwright's paths lie beside the archive. A path that leads elsewhere isn't followed.
                guard !name.hasPrefix("/"), !name.split(separator: "/").contains("..") else {
                    throw POSIXError(.EPERM)
                }
                return try Data(contentsOf: URL(filePath: file).deletingLastPathComponent().appending(path: name))
            }
        } catch let error as TransportError {
            throw TransportError(error.code, "\(file): \(error.message)", underlying: error.underlying)
        }
    }

    private static func additions(in side: Data, file: String) throws -> [Addition] {
        try SideLine.lines(of: side).flatMap { line in
            try decode(line.json, file: file).map { Addition(ordinal: line.ordinal, exchange: $0) }
        }
    }
}

/// The exchanges of a recording, by request.
struct TapeIndex: Sendable {
    private(set) var exchanges: [RecordedExchange] = []
    /// The indices of the exchanges of equal requests.
    private var series: [TapeRules.Key: [Int]] = [:]

    init() {}

    init(_ exchanges: [RecordedExchange], rules: TapeRules) {
        self.exchanges = exchanges
        for (index, exchange) in exchanges.enumerated() {
            series[rules.key(of: exchange.request), default: []].append(index)
        }
    }

    /// The number of exchanges of requests with a key.
    func count(of key: TapeRules.Key) -> Int { series[key]?.count ?? 0 }

    /// The index of the exchange at a position, from 1, among those of equal requests.
    func index(of key: TapeRules.Key, _ ordinal: Int) -> Int? {
        guard let indices = series[key], ordinal <= indices.count else { return nil }
        return indices[ordinal - 1]
    }
}
