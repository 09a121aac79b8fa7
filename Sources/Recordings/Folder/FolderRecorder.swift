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
        let name: FolderName
        let number: Int
        /// The digest of the request's body, also if the name doesn't contain it.
        let body: String?
    }

    private struct Known {
        /// The body of the first request: its files have no digest in their names.
        let body: String?
        var counts: [String?: Int] = [:]
    }

    private struct State {
        /// The origin of the first request. Its files are in no origin's folder.
        var home: Origin?
        var known: [FolderName: Known] = [:]
    }

    /// The maximum number of answers to the same request, and of different requests, that one recorder keeps.
    static let answerLimit = 100
    static let requestLimit = 10_000

    private let state = Mutex(State())
    private let redaction: ExchangeRedaction
    private let writer: FolderWriter

    init(_ folder: URL, redaction: ExchangeRedaction) {
        self.redaction = redaction
        writer = FolderWriter(FolderPath(folder), redaction: redaction)
    }

    /// Chooses the files for a request; `nil` beyond the limits.
    func slot(for request: HTTPRequest) -> Slot? {
        var name = FolderName(method: request.method, url: request.url.absoluteString, redaction: redaction)
        let body = FolderBody.digest(of: request, redaction: redaction)
        return state.withLock { state in
            let origin = Origin(request.url)
            if state.home == nil { state.home = origin }
            if let origin, origin != state.home { name.origin = FolderName.folder(of: origin) }
            guard var known = state.known[name] ?? (state.known.count < Self.requestLimit ? Known(body: body) : nil)
            else {
                return nil
            }
            let suffix = body == known.body ? nil : body
            guard known.counts.count < Self.requestLimit || known.counts[suffix] != nil else { return nil }
            let number = known.counts[suffix, default: 0] + 1
            guard number <= Self.answerLimit else { return nil }
            known.counts[suffix] = number
            state.known[name] = known
            name.body = suffix
            return Slot(name: name, number: number, body: body)
        }
    }

    /// Writes an exchange to its files.
    func keep(_ exchange: RecordedExchange, in slot: Slot) async throws { try await writer.write(exchange, in: slot) }
}

/// Writes the files of exchanges, one exchange after the other.
private actor FolderWriter {
    private let folder: FolderPath
    private let redaction: ExchangeRedaction
    /// The names whose earlier files were removed.
    private var replaced: Set<FolderName> = []

    init(_ folder: FolderPath, redaction: ExchangeRedaction) {
        self.folder = folder
        self.redaction = redaction
    }

    func write(_ exchange: RecordedExchange, in slot: FolderRecorder.Slot) throws {
        let redacted = redaction.redacted(exchange)
        if let reason = redacted.response?.omission { throw TransportError(.unwritableFile, "\(slot.name): \(reason)") }
        guard let files = FolderFiles(redacted, in: slot) else { return }
        do {
            try folder.make()
            if replaced.insert(slot.name).inserted { try removeFiles(for: slot) }
            // The head comes first: alone, it answers nothing.
            if let head = files.head { try folder.write(head.bytes, to: head.path) }
            if let content = files.content { try folder.write(content.bytes, to: content.path) }
        } catch {
            let reason = (error as? FolderPath.Failure)?.reason ?? ErrorText.line(error)
            let message = "\(slot.name) can't be written to \(folder.url.path): \(reason)"
            throw TransportError(.unwritableFile, message, underlying: error)
        }
    }

    /// Removes what the folder has for a request. The content goes first, because without it a head answers nothing.
    private func removeFiles(for slot: FolderRecorder.Slot) throws {
        let index = FolderIndex(try folder.list())
        var names = [slot.name]
        if slot.name.body == nil, let body = slot.body {
            names.append(slot.name)
            names[1].body = body
        }
        for file in names.compactMap({ index.groups[$0] }).flatMap(\.files) {
            if let content = file.content { try folder.remove(content) }
            if let head = file.head { try folder.remove(head) }
        }
    }
}
