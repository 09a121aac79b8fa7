import Foundation
import Interceptors

public struct FilmsAPI: Sendable {
    private let client: Client

    public init(baseURL: URL, transport: any Transport = .platform()) {
        client = Client(baseURL: baseURL, transport: transport)
    }

    public func film(_ id: Int) async throws -> Film {
        try await client.get("/films/\(id)")
    }
}
