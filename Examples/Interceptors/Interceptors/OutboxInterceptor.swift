package import Foundation
package import Middlewares

/// Keeps POSTs that the network loses in a folder, and sends them again later. The server acts on each only once.
///
/// Place it outside of credentials, so that none is stored, and each request gets a fresh one when it is sent again.
package struct OutboxInterceptor: PlacedInterceptor {
    private let folder: URL
    private let time: TimeSource

    package init(folder: URL, time: TimeSource = .system) { (self.folder, self.time) = (folder, time) }
    package var placement: Placement { [.answers, .changesRequest, .outside(.addsCredentials)] }

    package func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard request.method == .post, request.body.bytes != nil, !request.context.isFromOutbox else {
            return try await next(request)
        }
        // The server recognises a request that it has seen by this key.
        if !request.headerFields.contains(.idempotencyKey) { request.headerFields[.idempotencyKey] = UUID().uuidString }
        let request = request
        do { return try await next(request) } catch {
            guard OutcomeCondition.temporaryFailure.matches(.failure(error), to: request) else { throw error }
            try save(request)
            request.note("kept in the outbox, to be sent again")
            return HTTPResponse(status: 202, url: request.url)
        }
    }

    private func save(_ request: HTTPRequest) throws {
        var kept = request
        kept.headerFields = HTTPFields(request.headerFields.filter { !Redaction.standard.isSensitive($0.name.rawName) })
        let name = "\(Int(time.now().timeIntervalSince1970 * 1_000))-\(UUID().uuidString).json"
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try JSONEncoder().encode(kept).write(to: folder.appending(path: name), options: .atomic)
    }

    /// Sends the kept requests, oldest first, until one fails again. Call it when the network is back.
    package func sendAll(with client: Client) async throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() {
            let file = folder.appending(path: name)
            var request = try JSONDecoder().decode(HTTPRequest.self, from: Data(contentsOf: file))
            request.context.isFromOutbox = true
            let response = try await client.send(request)
            response.body.discard()
            if OutcomeCondition.temporaryFailure.matches(.success(response), to: request) { return }
            try FileManager.default.removeItem(at: file)
        }
    }
}

extension HTTPContext {
    private enum OutboxKey: HTTPContextKey { static var defaultValue: Bool { false } }
    fileprivate var isFromOutbox: Bool {
        get { self[OutboxKey.self] }
        set { self[OutboxKey.self] = newValue }
    }
}
