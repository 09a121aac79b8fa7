internal import Foundation
internal import InterceptorsTransport

/// Puts finished exchanges into their places among the entries of a recording, by their identities. Doing so twice changes
/// nothing, so an interrupted merge is simply done again.
struct TapeMerge {
    let rules: TapeRules

    /// All exchanges of a recording and its side file, redacted: another program or a person may have written secrets into the
    /// archive, and neither errors nor the next writing may repeat them.
    func exchanges(_ bytes: TapeBytes, file: String) throws -> [RecordedExchange] {
        let entries = try bytes.tape.map { try Self.decode($0, file: file) } ?? []
        let additions = try bytes.side.map { try Self.additions(in: $0, file: file + TapeFiles.sideSuffix) } ?? []
        return Self.merged(entries, additions).map(rules.redaction.redacted)
    }

    /// Replaces the entries of the same identities. Inserts the other exchanges before the later ones of their series, or adds
    /// them behind, in the order of their time.
    ///
    /// The later of two additions with the same identity counts.
    static func merged(_ entries: [RecordedExchange], _ additions: [RecordedExchange]) -> [RecordedExchange] {
        var result = RecordedExchange.identified(entries)
        let indices = Dictionary(result.enumerated().map { ($1.id, $0) }) { $1 }
        var new: [EntryID: (order: Int, exchange: RecordedExchange)] = [:]
        for (order, addition) in additions.enumerated() {
            // A line is as it was written, so it has an identity.
            guard let id = addition.id else { continue }
            if let index = indices[id] {
                result[index] = addition
            } else {
                new[id] = (order, addition)
            }
        }
        var last: [String: Int] = [:]
        for case let id? in result.map(\.id) { last[id.series] = max(last[id.series] ?? 0, id.position) }
        let inOrder = new.sorted {
            ($0.value.exchange.startedAt, $0.value.order) < ($1.value.exchange.startedAt, $1.value.order)
        }
        for (id, addition) in inOrder {
            // A later one is there if this exchange ended after a `finish`, or the clock was moved back.
            let isLast = last[id.series, default: 0] < id.position
            let next = isLast ? nil : result.firstIndex { $0.id?.isLater(than: id) == true }
            result.insert(addition.exchange, at: next ?? result.count)
            last[id.series] = max(last[id.series] ?? 0, id.position)
        }
        return result
    }

    private static func decode(_ archive: Data, file: String) throws -> [RecordedExchange] {
        do {
            return try HARArchive.decode(archive) { name in
                try attachment(name, of: file)
            }
        } catch let error as TransportError {
            throw TransportError(error.code, "\(file): \(error.message)", underlying: error.underlying)
        }
    }

    /// The content of a file beside an archive, as Playwright writes it. Paths and links that lead elsewhere aren't followed.
    private static func attachment(_ name: String, of file: String) throws -> Data {
        let folder = (file as NSString).deletingLastPathComponent
        guard !name.hasPrefix("/"),
            let folder = try FileName.resolved(folder.isEmpty ? "." : folder),
            let path = try FileName.resolved((folder as NSString).appendingPathComponent(name)),
            path.hasPrefix(folder == "/" ? folder : folder + "/"), !FileName.isOfAnotherKind(path)
        else { throw POSIXError(.EPERM) }
        let opened = try OpenedFile.open(path, O_RDONLY)
        guard try opened.size() <= attachmentLimit else { throw POSIXError(.EFBIG) }
        return try opened.contents()
    }

    /// In bytes.
    private static let attachmentLimit: Int64 = 256 << 20

    /// The exchanges of a side file, in the order of its lines.
    static func additions(in side: Data, file: String) throws -> [RecordedExchange] {
        try SideLine.lines(of: side).flatMap { try decode($0.json, file: file) }
    }
}

/// The exchanges of a recording, by request.
struct TapeIndex: Sendable {
    private(set) var exchanges: [RecordedExchange] = []
    /// The indices of the exchanges of equal requests.
    private var series: [TapeRules.Key: [Int]] = [:]
    /// The last position of each series of identities.
    private var lastPositions: [String: Int] = [:]

    init() {}

    init(_ exchanges: [RecordedExchange], rules: TapeRules) {
        self.exchanges = exchanges
        for (index, exchange) in exchanges.enumerated() {
            series[rules.key(of: exchange.request), default: []].append(index)
            guard let id = exchange.id else { continue }
            lastPositions[id.series] = max(lastPositions[id.series] ?? 0, id.position)
        }
    }

    /// The identity of a new exchange.
    ///
    /// - Parameters:
    ///   - key: the key of the request, of which all exchanges have been used.
    ///   - ordinal: the number of requests with this key until now.
    ///   - series: the series of the key.
    func newID(_ key: TapeRules.Key, _ ordinal: Int, series: String) -> EntryID {
        let count = count(of: key)
        return EntryID(series: series, position: max(lastPositions[series] ?? 0, count) + max(1, ordinal - count))
    }

    /// The number of exchanges of requests with a key.
    func count(of key: TapeRules.Key) -> Int { series[key]?.count ?? 0 }

    /// The index of the exchange at a position, from 1, among those of equal requests.
    func index(of key: TapeRules.Key, _ ordinal: Int) -> Int? {
        guard let indices = series[key], ordinal <= indices.count else { return nil }
        return indices[ordinal - 1]
    }
}
