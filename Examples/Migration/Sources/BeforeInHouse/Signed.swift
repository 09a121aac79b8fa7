import Foundation
import Models

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

enum ShopEndpoint: Hashable {
    case product(id: Int)
    case search(name: String, page: Int)

    var method: String { "GET" }
    var path: String {
        switch self {
        case .product(let id): "/products/\(id)"
        case .search: "/products"
        }
    }
    var parameters: [String: String] {
        switch self {
        case .product: [:]
        case .search(let name, let page): ["name": name, "page": "\(page)"]
        }
    }
}

final class ShopAPI {
    var isStubbed = false
    var stubs: [ShopEndpoint: URL] = [:]  // JSON files
    private let baseURL: URL
    private let secret: String
    private let now: () -> Date

    init(baseURL: URL, secret: String, now: @escaping () -> Date = { Date() }) {
        (self.baseURL, self.secret, self.now) = (baseURL, secret, now)
    }

    func call<T: Decodable>(_ endpoint: ShopEndpoint, as type: T.Type) async throws -> T {
        if isStubbed, let file = stubs[endpoint] {
            return try JSONDecoder().decode(T.self, from: Data(contentsOf: file))
        }
        var url = URLComponents(url: baseURL, resolvingAgainstBaseURL: false)!
        url.path = endpoint.path
        let items = endpoint.parameters.sorted { $0.key < $1.key }.map(URLQueryItem.init(name:value:))
        url.queryItems = items.isEmpty ? nil : items

        var request = URLRequest(url: url.url!)
        request.httpMethod = endpoint.method
        let time = "\(Int(now().timeIntervalSince1970))"
        let text = [endpoint.method, endpoint.path, url.percentEncodedQuery ?? "", time].joined(separator: "\n")
        request.setValue(time, forHTTPHeaderField: "X-Time")
        request.setValue(try hmacSHA256(of: text, key: secret), forHTTPHeaderField: "X-Signature")

        let (data, response) = try await URLSession.shared.data(for: request)
        guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }
        return try JSONDecoder().decode(T.self, from: data)
    }
}
