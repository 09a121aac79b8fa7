import Foundation
import Interceptors

// example: etags
func makeAPI(_ baseURL: URL, cache directory: URL) -> Client {
    Client(baseURL: baseURL, interceptors: [.validateStatus(), .cache(.disk(at: directory))])
}

func data(_ path: RequestTarget, from api: Client, isOffline: Bool) async throws -> Data {
    try await api.get(path, context: .with(\.cacheMode, isOffline ? .offline : .standard))
}
// end
