package import Foundation
package import Interceptors
import Synchronization

/// Stores POSTs in a folder when the network fails, and sends them again later. A key lets the server act on each POST only once.
///
/// Place it outside credentials: no credential is stored, and a request that is sent again gets a fresh one.
package final class OutboxInterceptor: PlacedInterceptor {
    private let folder: URL
    private let time: TimeSource
    private let isSending = Atomic(false)
    @TaskLocal private static var isFromOutbox = false

    package init(folder: URL, time: TimeSource = .system) { (self.folder, self.time) = (folder, time) }
    package var placement: [ChainRole] { [.answers, .changesRequest, .outside(.addsCredentials)] }

    package func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard request.method == .post, request.body.data != nil, !Self.isFromOutbox else {
            return try await next(request)
        }
        // The server recognises a request that it has seen by this key.
        if !request.headers.contains(.idempotencyKey) { request.headers[.idempotencyKey] = UUID().uuidString }
        let request = request
        do { return try await next(request) } catch {
            guard OutcomeCondition.temporaryFailure.matches(.failure(error), to: request) else { throw error }
            try await save(request)
            request.note("kept in the outbox, to be sent again")
            return HTTPResponse(status: 202, url: request.url)
        }
    }

    @concurrent private func save(_ request: HTTPRequest) async throws {
        var kept = request
        kept.headers = HTTPFields(request.headers.filter { !Redaction.standard.isSensitive($0.name.rawName) })
        let name = "\(Int(time.now().timeIntervalSince1970 * 1_000))-\(UUID().uuidString).json"
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try JSONEncoder().encode(kept).write(to: folder.appending(path: name), options: .atomic)
    }

    /// Sends the kept requests, oldest first, until the network fails. Requests that the server refuses stay in the folder.
    @concurrent package func sendAll(with client: Client) async throws {
        guard !isSending.exchange(true, ordering: .acquiringAndReleasing) else { return }
        defer { isSending.store(false, ordering: .releasing) }
        guard FileManager.default.fileExists(atPath: folder.path) else { return }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".json") }
        for file in names.sorted().map({ folder.appending(path: $0) }) {
            let data = try Data(contentsOf: file)
            guard let request = try? JSONDecoder().decode(HTTPRequest.self, from: data) else {
                try FileManager.default.moveItem(at: file, to: file.appendingPathExtension("damaged"))
                continue
            }
            let response = try await Self.$isFromOutbox.withValue(true) { try await client.send(request) }
            response.body.discard()
            if OutcomeCondition.temporaryFailure.matches(.success(response), to: request) { return }
            // A server that has acted on the key before may answer 409.
            guard response.status.kind == .successful || response.status == 409 else { continue }
            try FileManager.default.removeItem(at: file)
        }
    }
}
