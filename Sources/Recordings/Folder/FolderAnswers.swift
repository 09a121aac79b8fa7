package import Foundation
internal import HTTPSyntax
internal import Synchronization
package import Transport

/// The look-up of answers in a folder, as the article *Folders* documents it.
///
/// The folder is listed for each request, so that edits are seen at once. Only what the names mean is kept between requests.
package final class FolderAnswers: Sendable {
    /// An answer, and the file it comes from.
    package struct Found: Sendable {
        package let file: String
        package let answer: StubAnswer
    }

    private struct State {
        var listing = FolderPath.Listing()
        var index = FolderIndex(FolderPath.Listing())
        /// The number of requests that each group has answered, for each extension of their URLs.
        var counts: [Count: Int] = [:]

        struct Count: Hashable {
            let name: FolderName
            let ending: String?
        }
    }

    private let folder: FolderPath
    private let archives: FolderArchives
    private let now: @Sendable () -> Date
    private let state = Mutex(State())

    package init(_ url: URL, now: @escaping @Sendable () -> Date) {
        folder = FolderPath(url)
        archives = FolderArchives(folder)
        self.now = now
    }

    /// Finds the answer to a request.
    ///
    /// - Parameters:
    ///   - request: the request, with its body in memory.
    ///   - target: the URL as it was sent; by default the request's.
    ///   - isAnyOrigin: whether the files of every origin answer.
    /// - Throws: `TransportError` if no file answers, or if the one that does can't be read.
    @concurrent
    package func answer(
        to request: HTTPRequest,
        target: String? = nil,
        isAnyOrigin: Bool = false
    ) async throws -> Found {
        var attempts = 0
        while true {
            let index = try currentIndex(for: request)
            let query = FolderIndex.Query(
                request.method,
                target ?? request.url.absoluteString,
                origin: isAnyOrigin ? nil : Origin(request.url).map(FolderName.folder),
                origins: isAnyOrigin ? index.origins : [],
                body: FolderBody.digest(of: request)
            )
            guard let group = index.group(for: query) else {
                if let found = try answer(fromArchives: index.archives, to: request, isAnyOrigin) { return found }
                throw miss(query, index, request)
            }
            let number = state.withLock { state in
                let count = State.Count(name: group.name, ending: group.ending)
                let number = state.counts[count, default: 0]
                if number < group.files.count - 1 { state.counts[count] = number + 1 }
                return min(number, group.files.count - 1)
            }
            let file = group.files[number]
            do {
                return Found(file: file.text, answer: try answer(from: file, to: request))
            } catch let error as FolderPath.Failure where error.isMissing && attempts < 3 {
                // An editor replaces a file by removing and renaming: list the folder again.
                attempts += 1
            } catch {
                throw broken(file, error, request)
            }
        }
    }

    /// The faults of the folder, as sentences: names without a meaning, links, heads that can't be read.
    package func problems() -> [String] {
        do {
            let index = FolderIndex(try folder.list())
            var problems = index.problems + index.archives.compactMap(archives.problem)
            for file in index.groups.values.flatMap(\.files) {
                guard let problem = problem(of: file) else { continue }
                problems.append(problem)
            }
            return problems.sorted()
        } catch {
            return ["\(error.file) can't be read: \(error.reason)"]
        }
    }

    /// The paths of the folder's files, relative to it; empty if it can't be read.
    package func files() -> [String] { (try? folder.list().files.map(FolderPath.text)) ?? [] }

    /// The path and the query of a request that a file answers; `nil` if all files have a wildcard in their names.
    package var example: String? {
        guard let listing = try? folder.list() else { return nil }
        return FolderIndex(listing).groups.values.map(\.scope)
            .filter { $0.method == .get && !$0.pattern.text.contains("*") }.map(\.pattern.text).min()
    }

    private func problem(of file: FolderFile) -> String? {
        do {
            let head = try head(of: file)
            _ = try status(of: file, head)
            guard let path = file.content else { return nil }
            let handle = try folder.open(path)
            try handle.close()
            guard file.name.fileExtension == "json" else { return nil }
            let content = try folder.read(path, upTo: Self.readLimit)
            _ = try JSONSerialization.jsonObject(with: content, options: .fragmentsAllowed)
            return nil
        } catch let error as FolderPath.Failure {
            return error.code == EFBIG ? nil : "\(error.file) can't be read: \(error.reason)"
        } catch let error as Broken {
            return error.message
        } catch {
            return "\(file.text) isn't JSON."
        }
    }
}

extension FolderAnswers {
    /// Content up to this size is read at once; longer content is streamed.
    private static let readLimit = 4 << 20

    /// A file that says something impossible.
    private struct Broken: Error {
        let message: String
    }

    private func currentIndex(for request: HTTPRequest) throws -> FolderIndex {
        let listing: FolderPath.Listing
        do {
            listing = try folder.list()
        } catch {
            let reason = error.isMissing ? "There is no such folder." : error.reason
            let message = "The folder \(folder.url.path) can't answer: \(error.file): \(reason)"
            throw TransportError(.unreadableFile, message, request: request)
        }
        if let index = state.withLock({ $0.listing == listing ? $0.index : nil }) { return index }
        let index = FolderIndex(listing)
        state.withLock { ($0.listing, $0.index) = (listing, index) }
        return index
    }

    private func head(of file: FolderFile) throws -> FolderHead {
        guard let path = file.head else { return FolderHead() }
        do {
            return try FolderHead(folder.read(path, upTo: FolderHead.limit))
        } catch let error as FolderHead.Malformed {
            throw Broken(message: "\(FolderPath.text(path)), line \(error.line): \(error.reason)")
        }
    }

    private func status(of file: FolderFile, _ head: FolderHead) throws -> HTTPResponse.Status {
        if let named = file.name.status, let inHead = head.status, named != inHead {
            throw Broken(message: "\(file.text) has the status \(named) in its name, and \(inHead) in its head.")
        }
        let code = file.name.status ?? head.status ?? 200
        guard code >= 200, let status = HTTPResponse.Status(code: code) else {
            throw Broken(message: "\(file.text): \(code) is no final status.")
        }
        return status
    }

    private func answer(
        fromArchives paths: [[String]],
        to request: HTTPRequest,
        _ isAnyOrigin: Bool
    ) throws -> Found? {
        do {
            return try archives.answer(to: request, from: paths, isAnyOrigin: isAnyOrigin, now: now())
                .map { Found(file: $0.file, answer: $0.answer) }
        } catch {
            let failure = error as? FolderPath.Failure
            let reason = failure.map { "\($0.file) can't be read: \($0.reason)" } ?? (error as? TransportError)?.message
            let message = reason ?? "An HTTP Archive in the folder can't be read."
            throw TransportError(.unreadableFile, message, request: request, underlying: error)
        }
    }

    private func answer(from file: FolderFile, to request: HTTPRequest) throws -> StubAnswer {
        let head = try head(of: file)
        let status = try status(of: file, head)
        var fields = head.headerFields
        fields.removeFraming(keepingLength: file.content == nil && request.method == .head)
        // A recorded head says when it was sent: its dates keep their distances from now.
        let now = now()
        if let date = fields[.date].flatMap({ HTTPDate.parse($0, now: CivilTime.seconds(now)) }) {
            fields = TimeShift(from: Date(timeIntervalSince1970: Double(date)), to: now).apply(to: fields)
        }
        guard let path = file.content else { return StubAnswer(status, fields, .body(.empty)) }
        if let type = file.name.fileExtension.flatMap(FileExtension.contentType) {
            fields.addMissing([.contentType: type])
        }
        let body = try FolderBody.body(of: folder.open(path), readingUpTo: Self.readLimit)
        if request.method == .head, let length = body.length { fields[.contentLength] = String(length) }
        return StubAnswer(status, fields, .body(body))
    }

    private func broken(_ file: FolderFile, _ error: any Error, _ request: HTTPRequest) -> TransportError {
        let message =
            switch error {
            case let error as Broken: error.message
            case let error as FolderPath.Failure: "\(error.file) can't be read: \(error.reason)"
            default: "\(file.text) can't be read."
            }
        return TransportError(.unreadableFile, message, request: request, underlying: error)
    }

    private func miss(_ query: FolderIndex.Query, _ index: FolderIndex, _ request: HTTPRequest) -> TransportError {
        let names = query.names.filter { $0.origin == nil || $0.origin == query.origin }
            .filter { $0.method != FolderName.anything }.map { "\($0).*" }
        var sentences = [
            "No file in \(folder.url.lastPathComponent) answers this request."
                + " Looked for \(names.joined(separator: ", "))."
        ]
        let hints = [index.hint(for: query), archives.hint(for: request, from: index.archives)].compactMap(\.self)
        sentences += hints.isEmpty ? [index.isEmpty ? "The folder has no answers." : "No file is similar."] : hints
        return TransportError(.noStub, sentences.joined(separator: " "), request: request)
    }
}
