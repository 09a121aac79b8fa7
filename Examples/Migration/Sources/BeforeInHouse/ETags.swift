import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

final class ETagStore {
    struct Entry: Codable {
        let etag: String
        let data: Data
    }

    private let file: URL
    private let lock = NSLock()
    private var entries: [String: Entry]

    init(file: URL) {
        self.file = file
        entries = (try? JSONDecoder().decode([String: Entry].self, from: Data(contentsOf: file))) ?? [:]
    }

    subscript(url: URL) -> Entry? {
        get { lock.withLock { entries[url.absoluteString] } }
        set {
            lock.withLock {
                entries[url.absoluteString] = newValue
                try? JSONEncoder().encode(entries).write(to: file)
            }
        }
    }
}

struct ETagLoader {
    let store: ETagStore
    var isOffline = false

    func data(from url: URL) async throws -> Data {
        let stored = store[url]
        if isOffline {
            guard let stored else { throw URLError(.notConnectedToInternet) }
            return stored.data
        }
        var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
        request.setValue(stored?.etag, forHTTPHeaderField: "If-None-Match")
        let (data, response) = try await URLSession.shared.data(for: request)
        let http = response as? HTTPURLResponse
        if http?.statusCode == 304, let stored { return stored.data }
        guard http?.statusCode == 200 else { throw URLError(.badServerResponse) }
        if let etag = http?.value(forHTTPHeaderField: "ETag") {
            store[url] = ETagStore.Entry(etag: etag, data: data)
        }
        return data
    }
}
