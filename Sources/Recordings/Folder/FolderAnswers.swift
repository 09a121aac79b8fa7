package import Foundation
internal import InterceptorsSyntax
internal import Synchronization

/// The answers of a folder, as the article *Folders* documents them.
///
/// The first request reads the names of the files into a table. Each request reads the file that answers it.
package final class FolderAnswers: Sendable {
    /// An answer, and the file it comes from.
    package struct Found: Sendable {
        /// The file's path, as it may be printed.
        package let file: String
        package var answer: StubAnswer
    }

    /// A file that says something impossible.
    private struct Broken: Error {
        let message: String
    }

    /// The maximum bytes of a file.
    private static let limit = 64 << 20

    private let folder: FolderPath
    private let now: @Sendable () -> Date
    private let table = Mutex<FolderTable?>(nil)

    /// - Parameters:
    ///   - url: the folder.
    ///   - now: returns the time.
    package init(_ url: URL, now: @escaping @Sendable () -> Date) {
        folder = FolderPath(url)
        self.now = now
    }

    /// Finds the answer to a request.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - target: the path and query as a server received them, to which the files of every host answer. References to those hosts
    ///     become relative, so that a client stays at the server.
    /// - Throws: `TransportError` if no file answers, or if the one that does can't be read.
    @concurrent
    package func answer(to request: HTTPRequest, target: String? = nil) async throws -> Found {
        do {
            let table = try currentTable()
            let url = target ?? request.url.absoluteString
            let hosts = target == nil ? [FolderName.host(RecordedURL(url)), nil] : [nil] + table.hosts.sorted()
            guard let entry = table.entry(for: request.method, url, hosts: hosts) else {
                throw miss(request, url, hosts, table)
            }
            var answer = try answer(of: entry, to: request.method)
            if target != nil {
                answer.headers = answer.headers.local { origin in
                    FolderName.host(RecordedURL(origin)).map(table.hosts.contains) ?? false
                }
            }
            return Found(file: FolderTable.printable(entry.path), answer: answer)
        } catch {
            guard let message = Self.message(error) else { throw error }
            throw TransportError(.unreadableFile, message, request: request)
        }
    }

    private func currentTable() throws -> FolderTable {
        try table.withLock { table in
            let read = try table ?? FolderTable(folder.list())
            table = read
            return read
        }
    }

    /// The sentence about a file that can't be used.
    private static func message(_ error: any Error) -> String? {
        if let broken = error as? Broken { return broken.message }
        return (error as? FolderPath.Failure).map { "\(FolderTable.printable([$0.file])) can't be read: \($0.reason)" }
    }

    private func miss(
        _ request: HTTPRequest,
        _ url: String,
        _ hosts: [String?],
        _ table: FolderTable
    ) -> TransportError {
        let name = FolderName(request.method, ExchangeRedaction.standard.url(url), isRedacted: true)
        let names = hosts.filter { $0 == nil || $0 == name.host }.map { host in
            "\(FolderName(host: host, method: name.method, segments: name.segments)).*"
        }
        let hint =
            table.entries.isEmpty ? "The folder has no answers." : table.hint(for: request.method, url, hosts: hosts)
        let message =
            "No file in \(folder.url.lastPathComponent) answers this request. Looked for \(names.joined(separator: ", "))."
        return TransportError(.noStub, [message, hint].compactMap(\.self).joined(separator: " "), request: request)
    }
}

// MARK: Files

extension FolderAnswers {
    private func answer(of entry: FolderEntry, to method: HTTPRequest.Method) throws -> StubAnswer {
        let (status, head) = try self.head(of: entry)
        let content = try entry.content.map { try folder.read($0, upTo: Self.limit) }
        var fields = head.headers
        fields.removeFraming(keepingLength: content == nil && method == .head)
        // A recorded head says when it was sent: its dates keep their distances from now.
        if let date = fields[.date].flatMap({ HTTPDate.parse($0, now: CivilTime.seconds(now())) }) {
            fields = TimeShift(from: Date(timeIntervalSince1970: Double(date)), to: now()).apply(to: fields)
        }
        if let content {
            if let type = entry.fileExtension.flatMap(FileExtension.contentType) {
                fields.addMissing([.contentType: type])
            }
            if method == .head { fields[.contentLength] = String(content.count) }
        }
        return StubAnswer(status, fields, .body(HTTPBody(content ?? Data()))).withUnknownTrailers
    }

    private func head(of entry: FolderEntry) throws -> (HTTPResponse.Status, FolderHead) {
        do {
            var head = FolderHead()
            do {
                head = try FolderHead(try folder.read(entry.head, upTo: FolderHead.limit))
            } catch let error as FolderPath.Failure
                where entry.content != nil && (error.isMissing || error.code == ELOOP)
            {
                // A head may be missing beside content, and a link isn't followed.
            }
            let code = head.status ?? 200
            guard code >= 200, let status = HTTPResponse.Status(code: code) else {
                throw FolderHead.Malformed(line: 1, reason: "\(code) is no final status.")
            }
            return (status, head)
        } catch let error as FolderHead.Malformed {
            throw Broken(message: "\(FolderTable.printable(entry.head)), line \(error.line): \(error.reason)")
        }
    }
}

// MARK: For programs that serve a folder

extension FolderAnswers {
    /// The faults of the folder, as sentences: names without a meaning, links, heads that can't be read.
    package func problems() -> [String] {
        do {
            let table = try currentTable()
            return (table.problems + table.entries.compactMap(problem)).sorted()
        } catch {
            return [Self.message(error) ?? ErrorText.line(error)]
        }
    }

    private func problem(of entry: FolderEntry) -> String? {
        do {
            _ = try head(of: entry)
            guard entry.fileExtension == "json", let path = entry.content else { return nil }
            let content = try folder.read(path, upTo: Self.limit)
            let isJSON = (try? JSONSerialization.jsonObject(with: content, options: .fragmentsAllowed)) != nil
            return isJSON ? nil : "\(FolderTable.printable(path)) isn't JSON."
        } catch {
            return Self.message(error)
        }
    }

    /// The path and the query of a request that a file answers. `nil` if every file has a wildcard or a secret in its name.
    package var example: String? {
        let scopes = (try? currentTable().entries.compactMap(\.scope)) ?? []
        return scopes.filter { $0.method == .get && !$0.pattern.text.contains("*") }.map(\.pattern.text)
            .filter { Redaction.standard.redactingURL($0) == $0 }.min()
    }
}
