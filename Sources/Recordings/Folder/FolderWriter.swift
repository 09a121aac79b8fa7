internal import Dispatch
internal import Foundation
internal import InterceptorsCore
internal import Synchronization

/// Writes the files of exchanges, one exchange after the other.
final class FolderWriter: Sendable {
    private struct State {
        var home: OriginText?
        /// The files that the folder had before this recorder; `nil` before its first answer.
        var old: [FolderName: [[String]]]?
        /// The names for which this recorder has written an answer.
        var written: Set<FolderName> = []
        /// The name of each file seen, because reading a name takes longer than listing it. `nil` for a file that answers no request.
        var names: [[String]: FolderName?] = [:]
    }

    private let folder: FolderPath
    private let redaction: ExchangeRedaction
    private let lockLimit: Duration
    private let now: @Sendable () -> Date
    private let state = Mutex(State())
    // Writing waits for the disk and for the lock, and tasks have few threads to wait on.
    private let queue = DispatchQueue(label: "folder", qos: .userInitiated)

    init(
        _ folder: FolderPath,
        redaction: ExchangeRedaction,
        lockLimit: Duration,
        now: @escaping @Sendable () -> Date
    ) {
        self.folder = folder
        self.redaction = redaction
        self.lockLimit = lockLimit
        self.now = now
    }

    func write(_ exchange: RecordedExchange, in slot: FolderRecorder.Slot) async throws {
        try await StartedWork.elsewhere {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                queue.async { [self] in
                    continuation.resume(with: Result { try state.withLock { try write(exchange, in: slot, &$0) } })
                }
            }
        }
    }

    private func write(_ exchange: RecordedExchange, in slot: FolderRecorder.Slot, _ state: inout State) throws {
        let redacted = redaction.redacted(exchange)
        if let reason = redacted.response?.omission { throw TransportError(.unwritableFile, "\(slot.name): \(reason)") }
        do {
            guard FolderFiles.keeps(redacted) else { return }
            try folder.make()
            let name = try name(of: slot, &state)
            guard let files = FolderFiles(redacted, name: name, number: slot.number) else { return }
            try put(files, named: name, number: slot.number, &state)
        } catch {
            let failure = error as? FolderPath.Failure
            let reason = (error as? TransportError)?.message ?? failure?.reason ?? ErrorText.line(error)
            let message = "\(slot.name) can't be written to \(folder.url.path): \(reason)"
            throw TransportError(.unwritableFile, message, underlying: error)
        }
    }

    /// The name of the files for a slot: those of the home origin are in no origin's folder.
    private func name(of slot: FolderRecorder.Slot, _ state: inout State) throws -> FolderName {
        guard let origin = slot.origin, let first = slot.first else { return slot.name }
        let home = try state.home ?? FolderHome.origin(of: folder, orElse: first, now: now())
        state.home = home
        var name = slot.name
        if origin == home { name.origin = nil }
        return name
    }

    private func put(_ files: FolderFiles, named name: FolderName, number: Int, _ state: inout State) throws {
        if state.old == nil { state.old = try oldFiles() }
        var temporaries: [[String]] = []
        do {
            let content = try files.content.map { try folder.writeTemporary($0, beside: files.path, now: now()) }
            if let content { temporaries.append(content) }
            let head = try files.head.map { try folder.writeTemporary($0, beside: files.path, now: now()) }
            if let head { temporaries.append(head) }
            try folder.withLock(within: lockLimit) {
                let siblings = try folder.siblings(of: files.path)
                let stale = stale(beside: files.path, siblings, name, number: number, &state)
                for path in stale {
                    guard let other = otherName(of: path, replacedBy: files, siblings) else { continue }
                    try folder.perform(.rename(path, to: other))
                }
                for step in files.steps(content: content, head: head, replacing: stale) { try folder.perform(step) }
            }
            state.written.insert(name)
            state.old?[name] = nil
        } catch {
            for file in temporaries { try? folder.perform(.remove(file)) }
            throw error
        }
    }

    /// The files that an answer replaces, sorted: all for the same requests if it is the recorder's first, and otherwise those with
    /// its number.
    ///
    /// The folder of the answer is listed, because another recorder may have written to it since.
    private func stale(
        beside path: [String],
        _ siblings: [String],
        _ name: FolderName,
        number: Int,
        _ state: inout State
    ) -> [[String]] {
        let isFirst = !state.written.contains(name)
        var stale = Set(isFirst ? state.old?[name] ?? [] : [])
        for sibling in siblings {
            let file: [String] = path.dropLast() + [sibling]
            guard self.name(of: file, &state) == name else { continue }
            if isFirst || AnswerFileName(sibling).number == number { stale.insert(file) }
        }
        return stale.sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// The new name of a replaced file that still answers the URL with its extension: `report.pdf.pdf` for `report.pdf`. `nil` if
    /// another file answers that URL. Also `nil` for a file with a head, because a recorder wrote it for the URL without the
    /// extension.
    private func otherName(of path: [String], replacedBy files: FolderFiles, _ siblings: [String]) -> String? {
        let last = path.last ?? ""
        let file = AnswerFileName(last)
        guard path.dropLast() == files.path.dropLast(), let ending = file.fileExtension,
            last == "\(file.base).\(ending)",
            !file.base.contains("?"), AnswerFileName(files.path.last ?? "").fileExtension != ending,
            !siblings.contains(last + AnswerFileName.headEnding),
            !siblings.contains(where: { $0.hasPrefix(last + ".") })
        else { return nil }
        return "\(last).\(ending)"
    }

    /// The files in the folder by the requests that they are for. The folder is listed once for a recorder, because listing it for
    /// each name would take time that grows with the square of their number.
    private func oldFiles() throws -> [FolderName: [[String]]] {
        let listing = try folder.list()
        try folder.removeLeftovers(listing.temporaries, now: now())
        var files: [FolderName: [[String]]] = [:]
        for path in listing.files {
            if let name = Self.name(of: path) { files[name, default: []].append(path) }
        }
        return files
    }

    private func name(of path: [String], _ state: inout State) -> FolderName? {
        if let known = state.names[path] { return known }
        let name = Self.name(of: path)
        state.names[path] = .some(name)
        return name
    }

    private static func name(of path: [String]) -> FolderName? {
        let file = AnswerFileName(path.last ?? "")
        guard file.fileExtension?.lowercased() != "har" else { return nil }
        return try? FolderName(of: path, file)
    }
}
