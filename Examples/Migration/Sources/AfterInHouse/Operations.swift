import Foundation
import Interceptors
import InterceptorsTraffic
import Models

// example: operations
func makeAPI(_ baseURL: URL, transport: any Transport = .platform()) -> Client {
    Client(
        baseURL: baseURL,
        interceptors: [.validateStatus(), .limitConcurrency(2)],
        transport: transport
    )
}

func users(_ ids: [Int], from api: Client) async throws -> [User] {
    try await withThrowingTaskGroup(of: (Int, User).self) { group in
        for (index, id) in ids.enumerated() {
            group.addTask { (index, try await api.get("/users/\(id)")) }
        }
        return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
    }
}
// end
