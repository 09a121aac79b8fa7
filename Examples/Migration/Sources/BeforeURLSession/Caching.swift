import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

func cachingSession() -> URLSession {
    let configuration = URLSessionConfiguration.default
    configuration.urlCache = URLCache(memoryCapacity: 32 << 20, diskCapacity: 512 << 20, diskPath: "api")
    return URLSession(configuration: configuration)
}

func storedData(from url: URL, in session: URLSession) async throws -> Data {
    // Whatever its age, and without a network.
    let request = URLRequest(url: url, cachePolicy: .returnCacheDataDontLoad)
    return try await session.data(for: request).0
}
