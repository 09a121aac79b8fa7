internal import Foundation
internal import Interceptors
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
        var counts: [RequestKey: Int] = [:]
    }

    /// The maximum bytes of an archive.
    private static let limit = 256 << 20
    /// An archive of a real host also answers on loopback.
    private static let matching: RequestMatching = [.method, .path, .query, .body]

    private let folder: FolderPath
    private let state = Mutex(State())

    init(_ folder: FolderPath) { self.folder = folder }

    /// The answer to a request; `nil` if no archive has one.
    func answer(
        to request: HTTPRequest,
        from paths: [[String]],
        isAnyOrigin: Bool,
        now: Date
    ) throws -> (file: String, answer: StubAnswer)? {
        if let found = try answer(to: RecordedExchange.Request(request), request.url, paths, isAnyOrigin, now) {
            return found
        }
        guard request.method == .head else { return nil }
        var get = RecordedExchange.Request(request)
        get.method = .get
        return try answer(to: get, request.url, paths, isAnyOrigin, now)
    }

    private func answer(
        to request: RecordedExchange.Request,
        _ url: URL,
        _ paths: [[String]],
        _ isAnyOrigin: Bool,
        _ now: Date
    ) throws -> (file: String, answer: StubAnswer)? {
        guard !paths.isEmpty else { return nil }
        let key = Self.matching.key(of: request, .standard)
        for path in paths {
            let archive = try archive(at: path)
            let all = archive.indices[key] ?? []
            let own = isAnyOrigin ? all : all.filter { Self.isSameOrigin(archive.exchanges[$0].request.url, url) }
            guard !own.isEmpty else { continue }
            let number = state.withLock { state in
                let number = min(state.counts[key, default: 0], own.count - 1)
                state.counts[key] = number + 1
                return number
            }
            let exchange = archive.exchanges[own[number]]
            return (FolderPath.text(path), exchange.answer(now: now))
        }
        return nil
    }

    /// The sentence that says how a request differs from the nearest in the archives; `nil` if they are empty.
    func hint(for request: HTTPRequest, from paths: [[String]]) -> String? {
        let exchanges = paths.compactMap { try? archive(at: $0) }.flatMap(\.exchanges)
        let sent = RecordedExchange.Request(request)
        return RequestDifference.sentence(sent, among: exchanges.map(\.request), Self.matching, .standard)
    }

    /// Why an archive can't be used; `nil` if it can.
    func problem(of path: [String]) -> String? {
        do {
            _ = try archive(at: path)
            return nil
        } catch let error as FolderPath.Failure {
            return "\(error.file) can't be read: \(error.reason)"
        } catch {
            return "\(FolderPath.text(path)): \((error as? TransportError)?.message ?? "It is no HTTP Archive.")"
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
            indices[Self.matching.key(of: exchange.request, .standard), default: []].append(index)
        }
        let archive = Archive(bytes: bytes, exchanges: exchanges, indices: indices)
        state.withLock { $0.archives[path] = archive }
        return archive
    }

    private static func isSameOrigin(_ recorded: String, _ sent: URL) -> Bool {
        URL(string: recorded).flatMap(Origin.init) == Origin(sent)
    }
}
