internal import Foundation
internal import Interceptors
internal import Synchronization

/// Keeps exchanges as the files of a folder.
///
/// The first answer to a request that a recorder keeps replaces everything that the folder had for that request; later answers
/// are numbered. So a folder holds what passed last, and can be recorded again and again.
final class FolderRecorder: Sendable {
    /// The files for one exchange, chosen when its request begins, so that answers are numbered in the order of the requests.
    struct Slot: Sendable {
        /// The name with the folder of the origin, even if it is the home origin.
        let name: FolderName
        let number: Int
        let origin: OriginText?
        /// The home origin, if the folder has none yet.
        let first: OriginText?
    }

    private struct State {
        /// The origin of the first request.
        var first: OriginText?
        var counts: [FolderName: Int] = [:]
    }

    /// The maximum number of answers to the same request, and of different requests, that one recorder keeps.
    static let answerLimit = 100
    static let requestLimit = 10_000

    private let state = Mutex(State())
    private let redaction: ExchangeRedaction
    private let writer: FolderWriter

    init(_ folder: URL, redaction: ExchangeRedaction, now: @escaping @Sendable () -> Date) {
        self.redaction = redaction
        writer = FolderWriter(FolderPath(folder), redaction: redaction, now: now)
    }

    /// Chooses the files for a request; `nil` beyond the limits.
    func slot(for request: HTTPRequest) -> Slot? {
        let origin = OriginText(request.url, redaction: redaction)
        let name = FolderName(
            origin: origin.map(FolderName.folder),
            method: request.method,
            url: request.url.absoluteString,
            redaction: redaction,
            body: FolderBody.digest(of: request, redaction: redaction)
        )
        return state.withLock { state in
            state.first = state.first ?? origin
            let number = state.counts[name, default: 0] + 1
            guard number <= Self.answerLimit, number > 1 || state.counts.count < Self.requestLimit else { return nil }
            state.counts[name] = number
            return Slot(name: name, number: number, origin: origin, first: state.first)
        }
    }

    /// Writes an exchange to its files.
    func keep(_ exchange: RecordedExchange, in slot: Slot) async throws { try await writer.write(exchange, in: slot) }
}

/// Writes the files of exchanges, one exchange after the other.
private actor FolderWriter {
    private let folder: FolderPath
    private let redaction: ExchangeRedaction
    private let now: @Sendable () -> Date
    private var home: OriginText?
    /// The files that the folder had before this recorder, without those that it has replaced; `nil` before its first answer.
    private var old: [FolderName: [[String]]]?

    init(_ folder: FolderPath, redaction: ExchangeRedaction, now: @escaping @Sendable () -> Date) {
        self.folder = folder
        self.redaction = redaction
        self.now = now
    }

    func write(_ exchange: RecordedExchange, in slot: FolderRecorder.Slot) throws {
        let redacted = redaction.redacted(exchange)
        if let reason = redacted.response?.omission { throw TransportError(.unwritableFile, "\(slot.name): \(reason)") }
        do {
            guard FolderFiles.keeps(redacted) else { return }
            try folder.make()
            let name = try name(of: slot)
            guard let files = FolderFiles(redacted, name: name, number: slot.number) else { return }
            try put(files, named: name)
        } catch {
            let failure = error as? FolderPath.Failure
            let reason = (error as? TransportError)?.message ?? failure?.reason ?? ErrorText.line(error)
            let message = "\(slot.name) can't be written to \(folder.url.path): \(reason)"
            throw TransportError(.unwritableFile, message, underlying: error)
        }
    }

    /// The name of the files for a slot: those of the home origin are in no origin's folder.
    private func name(of slot: FolderRecorder.Slot) throws -> FolderName {
        guard let origin = slot.origin, let first = slot.first else { return slot.name }
        let home = try home ?? FolderHome.origin(of: folder, orElse: first, now: now())
        self.home = home
        var name = slot.name
        if origin == home { name.origin = nil }
        return name
    }

    private func put(_ files: FolderFiles, named name: FolderName) throws {
        let old = try old ?? oldFiles()
        self.old = old
        var temporaries: [[String]] = []
        do {
            let content = try files.content.map { try folder.writeTemporary($0, beside: files.path, now: now()) }
            if let content { temporaries.append(content) }
            let head = try files.head.map { try folder.writeTemporary($0, beside: files.path, now: now()) }
            if let head { temporaries.append(head) }
            try folder.withLock {
                let steps = files.steps(content: content, head: head, replacing: old[name] ?? [])
                for step in steps { try folder.perform(step) }
            }
            self.old?[name] = nil
        } catch {
            for file in temporaries { try? folder.perform(.remove(file)) }
            throw error
        }
    }

    /// The files in the folder by the requests that they are for. The folder is listed once for a recorder, because listing it for
    /// each name would take time that grows with the square of their number.
    private func oldFiles() throws -> [FolderName: [[String]]] {
        let listing = try folder.list()
        try folder.removeLeftovers(listing.temporaries, now: now())
        var files: [FolderName: [[String]]] = [:]
        for path in listing.files {
            let file = AnswerFileName(path.last ?? "")
            let isArchive = file.fileExtension?.lowercased() == "har"
            guard !isArchive, let name = try? FolderName(of: path, file) else { continue }
            files[name, default: []].append(path)
        }
        return files
    }
}
