package import Foundation
internal import InterceptorsSyntax
package import InterceptorsTransport
internal import Synchronization

/// The look-up of answers in a folder, as the article *Folders* documents it.
///
/// The folder is listed for each request, so that edits are seen at once. Only what the names mean is kept between requests.
package final class FolderAnswers: Sendable {
    /// An answer, and the file it comes from.
    package struct Found: Sendable {
        /// The file's path, as it may be printed.
        package let file: String
        package var answer: StubAnswer
    }

    private struct State {
        var listing = FolderPath.Listing()
        var index = FolderIndex(FolderPath.Listing(), .standard)
        var counts = AnswerCounts<Count>()

        struct Count: Hashable {
            let request: FolderName
            let group: FolderName
            let ending: String?
        }
    }

    private let folder: FolderPath
    private let archives: FolderArchives
    private let reader: FolderFileReader
    private let redaction: ExchangeRedaction
    private let now: @Sendable () -> Date
    private let state = Mutex(State())

    /// - Parameters:
    ///   - url: the folder.
    ///   - redaction: decides which values are secrets, as it did when the folder was recorded.
    ///   - replacing: the program's own replacement of secrets, as when the folder was recorded.
    ///   - now: returns the time.
    package init(
        _ url: URL,
        redaction: Redaction = .standard,
        replacing: (@Sendable (String) -> String)? = nil,
        now: @escaping @Sendable () -> Date
    ) {
        folder = FolderPath(url)
        self.redaction = ExchangeRedaction(redaction, hook: replacing)
        archives = FolderArchives(folder, redaction: self.redaction)
        reader = FolderFileReader(folder: folder, redaction: self.redaction)
        self.now = now
    }

    /// Finds the answer to a request.
    ///
    /// - Parameters:
    ///   - request: the request, with its body in memory.
    ///   - target: the URL as it was sent; by default the request's.
    ///   - isAnyOrigin: whether the files of every origin answer. References to what they answer then have no origin.
    /// - Throws: `TransportError` if no file answers, or if the one that does can't be read.
    @concurrent
    package func answer(
        to request: HTTPRequest,
        target: String? = nil,
        isAnyOrigin: Bool = false
    ) async throws -> Found {
        var attempts = 0
        while true {
            do {
                return try await folder.withSharedLock(for: request) {
                    try found(for: request, target, isAnyOrigin: isAnyOrigin)
                }
            } catch let error as FolderPath.Failure where error.isMissing && attempts < 3 {
                // An editor replaces a file by removing and renaming: list the folder again.
                attempts += 1
            } catch let error as FolderPath.Failure {
                let message = "\(redaction.path(error.path)) can't be read: \(error.reason)"
                throw TransportError(.unreadableFile, message, request: request)
            } catch let error as FolderFileReader.Broken {
                throw TransportError(.unreadableFile, error.message, request: request)
            } catch {
                guard !(error is TransportError || error is CancellationError) else { throw error }
                let message = "A file in \(folder.url.lastPathComponent) can't be read."
                throw TransportError(.unreadableFile, message, request: request, underlying: error)
            }
        }
    }

    /// The faults of the folder, as sentences: names without a meaning, links, heads that can't be read.
    package func problems() -> [String] {
        do {
            let index = FolderIndex(try folder.list(), redaction)
            var problems = index.problems + index.archives.compactMap(archives.problem)
            problems += index.groups.values.flatMap(\.files).compactMap(reader.problem)
            do {
                _ = try FolderHome.read(in: folder)
            } catch {
                problems.append((error as? TransportError)?.message ?? ErrorText.line(error))
            }
            return problems.sorted()
        } catch {
            return ["\(redaction.path(error.path)) can't be read: \(error.reason)"]
        }
    }

    /// The paths of the folder's files, relative to it; empty if it can't be read.
    package func files() -> [String] { (try? folder.list().files.map(FolderPath.text)) ?? [] }

    /// The path of a file, which ``files()`` returned, as it may be printed.
    package func printable(_ file: String) -> String {
        redaction.path(file.split(separator: "/", omittingEmptySubsequences: false).map(String.init))
    }

    /// The path and the query of a request that a file answers. `nil` if every file has a wildcard or a secret in its name.
    package var example: String? {
        guard let listing = try? folder.list() else { return nil }
        return FolderIndex(listing, redaction).groups.values.map(\.scope)
            .filter { $0.method == .get && !$0.pattern.text.contains("*") }.map(\.pattern.text)
            .filter { redaction.url($0) == $0 }.min()
    }
}

extension FolderAnswers {
    private func found(for request: HTTPRequest, _ target: String?, isAnyOrigin: Bool) throws -> Found {
        let index = try currentIndex(for: request)
        let query = FolderQuery(
            request.method,
            target ?? request.url.absoluteString,
            origin: isAnyOrigin ? nil : OriginText(request.url, redaction: redaction).map(FolderName.folder),
            origins: isAnyOrigin ? index.origins : [],
            body: FolderBody.digest(of: request, redaction: redaction),
            redaction: redaction
        )
        guard var found = try answer(to: request, query, index) else { throw miss(query, index, request) }
        if isAnyOrigin { found.answer.headerFields = try local(found.answer.headerFields, request, index) }
        return found
    }

    private func currentIndex(for request: HTTPRequest) throws -> FolderIndex {
        var listing: FolderPath.Listing
        do {
            listing = try folder.list()
            // A recorder's files in progress change no answer.
            listing.temporaries = []
        } catch {
            let reason = error.isMissing ? "There is no such folder." : error.reason
            let message = "The folder \(folder.url.path) can't answer: \(redaction.path(error.path)): \(reason)"
            throw TransportError(.unreadableFile, message, request: request)
        }
        if let index = state.withLock({ $0.listing == listing ? $0.index : nil }) { return index }
        let index = FolderIndex(listing, redaction)
        state.withLock { ($0.listing, $0.index) = (listing, index) }
        return index
    }

    private func answer(to request: HTTPRequest, _ query: FolderQuery, _ index: FolderIndex) throws -> Found? {
        guard let group = index.group(for: query) else {
            return try answer(fromArchives: index.archives, to: request, query.origin == nil)
        }
        let count = State.Count(request: query.identity, group: group.name, ending: group.ending)
        let file = group.files[state.withLock { $0.counts.next(count, of: group.files.count) }]
        return Found(file: redaction.path(file.path), answer: try reader.answer(from: file, to: request, now: now()))
    }

    private func answer(
        fromArchives paths: [[String]],
        to request: HTTPRequest,
        _ isAnyOrigin: Bool
    ) throws -> Found? {
        do {
            return try archives.answer(to: request, from: paths, isAnyOrigin: isAnyOrigin, now: now())
        } catch let error as TransportError {
            throw TransportError(.unreadableFile, error.message, request: request, underlying: error.underlying)
        }
    }

    /// The fields without the origins whose requests this folder answers: a client of a server on loopback stays there.
    private func local(_ fields: HTTPFields, _ request: HTTPRequest, _ index: FolderIndex) throws -> HTTPFields {
        try ServedReference.local(fields) { reference in
            let home = try FolderHome.read(in: folder)
            guard let origin = OriginText(text: reference.origin, defaultScheme: home?.scheme ?? "https") else {
                return false
            }
            return try origin == home
                || [request.method, .get].contains { try answers($0, reference.path, of: origin, index) }
        }
    }

    private func answers(
        _ method: HTTPRequest.Method,
        _ path: String,
        of origin: OriginText,
        _ index: FolderIndex
    ) throws -> Bool {
        let folder = FolderName.folder(ofOrigin: origin)
        let query = FolderQuery(method, path, origin: folder, origins: [], body: nil, redaction: redaction)
        if index.group(for: query) != nil { return true }
        guard !index.archives.isEmpty, let url = URL(string: origin.text + path) else { return false }
        return try archives.contains(HTTPRequest(method: method, url: url), in: index.archives)
    }

    private func miss(_ query: FolderQuery, _ index: FolderIndex, _ request: HTTPRequest) -> TransportError {
        let names = query.redactedNames.filter { $0.origin == nil || $0.origin == query.origin }
            .filter { $0.method != FolderName.anything }.map { "\($0).*" }
        var sentences = [
            "No file in \(folder.url.lastPathComponent) answers this request."
                + " Looked for \(names.joined(separator: ", "))."
        ]
        let hint = index.hint(for: query) { redaction.path($0.path) }
        let hints = [hint, archives.hint(for: request, from: index.archives)].compactMap(\.self)
        sentences += hints.isEmpty ? [index.isEmpty ? "The folder has no answers." : "No file is similar."] : hints
        return TransportError(.noStub, sentences.joined(separator: " "), request: request)
    }
}
