internal import Foundation
internal import InterceptorsCore
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

    /// - Parameter lockLimit: how long to wait for another process that changes the folder.
    init(
        _ folder: URL,
        redaction: ExchangeRedaction,
        lockLimit: Duration = FolderPath.lockLimit,
        now: @escaping @Sendable () -> Date
    ) {
        self.redaction = redaction
        writer = FolderWriter(FolderPath(folder), redaction: redaction, lockLimit: lockLimit, now: now)
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
