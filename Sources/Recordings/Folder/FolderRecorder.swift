internal import Dispatch
internal import Foundation
internal import InterceptorsSyntax
internal import Synchronization

/// Keeps exchanges as the files of a folder. The last answer to a request replaces the others.
final class FolderRecorder: Sendable {
    /// The maximum number of different requests whose answers a recorder keeps.
    static let requestLimit = 10_000

    private let folder: FolderPath
    private let redaction: ExchangeRedaction
    /// Called with the error if an exchange can't be kept.
    private let report: @Sendable (any Error) -> Void
    private let path: String
    /// The right to write to the folder, from the first file on.
    private let lock = Mutex<WriteLock?>(nil)
    private let names = Mutex(Set<FolderName>())
    // Writing waits for the disk, and tasks have few threads to wait on.
    private let queue = DispatchQueue(label: "folder", qos: .userInitiated)

    init(_ folder: URL, redaction: ExchangeRedaction, report: @escaping @Sendable (any Error) -> Void) {
        self.folder = FolderPath(folder)
        (self.redaction, self.report) = (redaction, report)
        path = folder.resolvingSymlinksInPath().path
    }

    deinit { lock.withLock(\.self)?.release() }

    /// Writes an exchange to its files on a thread of the recorder, and then calls a closure.
    func keep(_ exchange: RecordedExchange?, _ done: @escaping @Sendable () -> Void) {
        guard let exchange else { return done() }
        queue.async { [self] in
            do { try write(exchange) } catch { report(error) }
            done()
        }
    }

    func write(_ exchange: RecordedExchange) throws {
        let name = FolderName(exchange.request.method, redaction.url(exchange.request.url), isRedacted: true)
        if let reason = exchange.response?.omission {
            throw TransportError(.bodyTooLarge, "\(name) isn't recorded. \(reason)")
        }
        do {
            let redacted = redaction.redacted(exchange)
            if let reason = redacted.response?.omission { throw TransportError(.unwritableFile, reason) }
            guard let files = AnswerFiles(redacted, name) else { return }
            let limit = Self.requestLimit
            guard names.withLock({ $0.contains(name) || $0.count < limit && $0.insert(name).inserted }) else {
                throw TransportError(.unwritableFile, "A recorder keeps answers to \(limit) requests.")
            }
            try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
            try claim().writing.withLock { _ in try put(files, name) }
        } catch {
            let reason = (error as? TransportError)?.message ?? (error as? FolderPath.Failure)?.reason
            let message = "\(name) can't be written to \(folder.url.path): \(reason ?? ErrorText.line(error))"
            throw TransportError(.unwritableFile, message, underlying: reason == nil ? error : nil)
        }
    }

    private func claim() throws -> WriteLock {
        try lock.withLock { lock in
            if lock == nil { lock = try WriteLock.acquired(path, O_RDONLY | O_DIRECTORY) }
            if let lock { return lock }
            throw TransportError(.unwritableFile, "Another process records into the folder. Record into another one.")
        }
    }

    private func put(_ files: AnswerFiles, _ name: FolderName) throws {
        let siblings = try siblings(of: files.path)
        var temporaries: [[String]] = []
        do {
            let new = [files.head, files.content].compactMap(\.self)
            for file in new { temporaries.append(try folder.writeTemporary(file.bytes, beside: file.path)) }
            // In this order, so that the content of one answer never stands beside the head of another: of an answer with content, a
            // head alone answers nothing. A killed process leaves the old answer, the new one, or neither.
            let stale = siblings.filter { name.isName(ofFile: $0) || $0.hasPrefix(FolderPath.temporaryPrefix) }.sorted()
            for name in stale where name != files.head?.path.last { try folder.remove(files.path.dropLast() + [name]) }
            for (temporary, file) in zip(temporaries, new) { try folder.rename(temporary, to: file.path.last ?? "") }
        } catch {
            for file in temporaries { try? folder.remove(file) }
            throw error
        }
    }

    /// The names of the files beside a file.
    ///
    /// - Throws: if a disk that ignores case would take the file, or a folder that it is in, for another one.
    private func siblings(of path: [String]) throws -> [String] {
        var siblings: [String] = []
        for (depth, name) in path.enumerated() {
            let parent = path.prefix(depth).reduce(folder.url) { $0.appending(path: $1, directoryHint: .isDirectory) }
            siblings = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
            let folded = name.lowercased()
            let other = siblings.first { $0 != name && $0.utf8.count == name.utf8.count && $0.lowercased() == folded }
            guard let other else { continue }
            let message = "On a disk that ignores case, \(FolderPath.text(path)) is the same as \(other)."
            throw TransportError(.unwritableFile, message + " A recording keeps both.")
        }
        return siblings
    }
}

/// The content and the head that keep an exchange.
private struct AnswerFiles {
    typealias File = (path: [String], bytes: Data)

    private(set) var content: File?
    private(set) var head: File?

    /// The path of the file that answers.
    var path: [String] { content?.path ?? head?.path ?? [] }

    /// `nil` if files don't keep the exchange: its response is incomplete, or only for requests with the same conditions.
    init?(_ exchange: RecordedExchange, _ name: FolderName) {
        guard let response = exchange.response, exchange.failure == nil,
            !Self.isConditional(response.status, exchange.request.headers)
        else { return nil }
        var fields = response.headers
        let received = response.content
        fields.removeFraming(keepingLength: exchange.request.method == .head)
        fields.removeAll { !$0.isValid }
        let type = fields[.contentType]
        let ending = received.isEmpty ? nil : FileExtension.of(type)
        let bytes = ending == "json" ? Self.pretty(received) : received
        if bytes != received { fields.removeDigests() }
        let path = ending.map(name.path) ?? name.emptyPath
        if ending != nil { content = (path, bytes) }
        let impliedType = ending.flatMap(FileExtension.contentType)
        let isImplied = fields.isEmpty || fields.count == 1 && type != nil && type == impliedType
        guard ending == nil || response.status != 200 || !isImplied else { return }
        let head = FolderHead(status: response.status.code, headers: fields)
        let comment = "\(exchange.request.method) \(exchange.request.url)"
        self.head = (path.dropLast() + [(path.last ?? "") + FolderTable.headEnding], head.data(comment: comment))
    }

    private static let conditions: [HTTPField.Name] = [
        .ifNoneMatch, .ifModifiedSince, .ifMatch, .ifUnmodifiedSince, .ifRange,
    ]

    /// Whether a response says something only about content that the client has (RFC 9110 §13.1), or about a part of the content
    /// (§14). The names of files don't tell such requests from others, so the response would take the place of a whole one.
    private static func isConditional(_ status: HTTPResponse.Status, _ fields: HTTPFields) -> Bool {
        switch status {
        case 304: conditions.contains { fields.contains($0) }
        case 206, 416: fields.contains(.range)
        default: false
        }
    }

    /// JSON with line breaks and indents; other content unchanged.
    private static func pretty(_ bytes: Data) -> Data {
        guard let text = String(validating: bytes, as: UTF8.self),
            (try? JSONSerialization.jsonObject(with: bytes, options: .fragmentsAllowed)) != nil,
            let pretty = JSONIndentation.indented(text)
        else { return bytes }
        return Data((pretty + "\n").utf8)
    }
}
