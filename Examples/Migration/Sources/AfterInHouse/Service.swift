import Foundation
import Interceptors
import Models

// example: service
func makeAPI(_ baseURL: URL) -> Client {
    Client(
        baseURL: baseURL,
        interceptors: [
            .unwrapEnvelope(payload: "data", code: "status", success: .codes("ok")),
            .validateStatus(),
        ]
    )
}
// end

// example: service-error
func user(_ id: Int, from api: Client) async throws -> User? {
    do {
        return try await api.get("/users/\(id)")
    } catch let error as EnvelopeError where error.serverCode == "not_found" {
        return nil
    }
}
// end
