internal import Foundation
internal import InterceptorsCore
internal import Synchronization

/// The HTTP Archives in a folder, as answers to requests that no file answers.
///
/// An archive is read for each such request and decoded again only if its bytes have changed: times of files could miss an edit.
final class FolderArchives: Sendable {
    private struct Archive {
        let bytes: Data
        let exchanges: [RecordedExchange]
        /// The exchanges by their requests, in the order of the archive.
        let indices: [RequestKey: [Int]]
    }

    private struct State {
        var archives: [[String]: Archive] = [:]
        var counts = AnswerCounts<Count>()

        struct Count: Hashable {
            let archive: [String]
            /// The whole request, its origin too.
            let request: RequestKey
        }
    }

    /// The maximum bytes of an archive.
    private static let limit = 256 << 20
    /// An archive of a real host also answers on loopback.
    private static let matching: RequestMatching = [.method, .path, .query, .body]

    private let folder: FolderPath
    private let redaction: ExchangeRedaction
    private let state = Mutex(State())

    init(_ folder: FolderPath, redaction: ExchangeRedaction) {
        self.folder = folder
        self.redaction = redaction
    }

    /// The answer to a request; `nil` if no archive has one.
    func answer(
        to request: HTTPRequest,
        from paths: [[String]],
        isAnyOrigin: Bool,
        now: Date
    ) throws -> FolderAnswers.Found? {
        guard let (path, exchanges) = try exchanges(for: request, paths, isAnyOrigin) else { return nil }
        let key = RequestMatching.standard.key(of: request, redaction)
        let count = State.Count(archive: path, request: key)
        let exchange = exchanges[state.withLock { $0.counts.next(count, of: exchanges.count) }]
        return FolderAnswers.Found(file: redaction.path(path), answer: exchange.answer(now: now))
    }

    /// Whether an archive answers a request, whatever the origin of its entries.
    func contains(_ request: HTTPRequest, in paths: [[String]]) throws -> Bool {
        try exchanges(for: request, paths, true) != nil
    }

    /// The exchanges with a request in the first archive that has any. HEAD is answered like GET (RFC 9110 §9.3.2).
    private func exchanges(
        for request: HTTPRequest,
        _ paths: [[String]],
        _ isAnyOrigin: Bool
    ) throws -> (path: [String], exchanges: [RecordedExchange])? {
        var sent = RecordedExchange.Request(request)
        for method in request.method == .head ? [.head, .get] : [request.method] {
            sent.method = method
            let key = Self.matching.key(of: sent, redaction)
            for path in paths {
                let archive = try archive(at: path)
                let own = (archive.indices[key] ?? []).map { archive.exchanges[$0] }
                    .filter { isAnyOrigin || Self.isSameOrigin($0.request.url, request.url) }
                if !own.isEmpty { return (path, own) }
            }
        }
        return nil
    }

    /// The sentence that says how a request differs from the nearest in the archives; `nil` if they are empty.
    func hint(for request: HTTPRequest, from paths: [[String]]) -> String? {
        let exchanges = paths.compactMap { try? archive(at: $0) }.flatMap(\.exchanges)
        let sent = RecordedExchange.Request(request)
        return RequestDifference.sentence(sent, among: exchanges.map(\.request), Self.matching, redaction)
    }

    /// Why an archive can't be used; `nil` if it can.
    func problem(of path: [String]) -> String? {
        do {
            _ = try archive(at: path)
            return nil
        } catch let error as FolderPath.Failure {
            return "\(redaction.path(error.path)) can't be read: \(error.reason)"
        } catch {
            return "\(redaction.path(path)): \((error as? TransportError)?.message ?? "It is no HTTP Archive.")"
        }
    }

    private func archive(at path: [String]) throws -> Archive {
        let bytes = try folder.read(path, upTo: Self.limit)
        if let known = state.withLock({ $0.archives[path] }), known.bytes == bytes { return known }
        let exchanges = try HARArchive.decode(bytes) { name in
            let file = name.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
            return try folder.read(Array(path.dropLast()) + file, upTo: Self.limit)
        }
        var indices: [RequestKey: [Int]] = [:]
        for (index, exchange) in exchanges.enumerated() {
            indices[Self.matching.key(of: exchange.request, redaction), default: []].append(index)
        }
        let archive = Archive(bytes: bytes, exchanges: exchanges, indices: indices)
        state.withLock { $0.archives[path] = archive }
        return archive
    }

    private static func isSameOrigin(_ recorded: String, _ sent: URL) -> Bool {
        URL(string: recorded).flatMap(Origin.init) == Origin(sent)
    }
}
