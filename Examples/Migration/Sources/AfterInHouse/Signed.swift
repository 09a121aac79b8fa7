import Foundation
import Interceptors
import InterceptorsAuthentication
import InterceptorsStubs

// example: signed
enum ShopEndpoint: Endpoint {
    case product(id: Int)
    case search(name: String, page: Int)

    var request: EndpointRequest<NoContent> {
        switch self {
        case .product(let id): .get("/products/\(id)")
        case .search(let name, let page): .get("/products", query: ["name": name, "page": page])
        }
    }
}

extension RequestSigner {
    static func shop(_ secret: SigningKey) -> RequestSigner {
        RequestSigner { request, date in
            let time = "\(Int(date.timeIntervalSince1970))"
            let url = URLComponents(url: request.url, resolvingAgainstBaseURL: false)
            let text = [request.method.rawValue, url?.path ?? "", url?.percentEncodedQuery ?? "", time]
            request.headers["X-Time"] = time
            request.headers["X-Signature"] = try secret.hmacSHA256(text.joined(separator: "\n"))
                .base64EncodedString()
        }
    }
}

func makeShopAPI(
    _ baseURL: URL,
    secret: SigningKey,
    transport: any Transport = .platform(),
    time: TimeSource = .system
) -> Client {
    Client(
        baseURL: baseURL,
        interceptors: [
            .validateStatus(),
            .retry(maxAttempts: 3),
            .sign(.shop(secret), identifiesCaller: false, time: time),
        ],
        transport: transport
    )
}
// end

// example: stubs
func makeStubs(in folder: URL) -> StubTransport {
    let stub = StubTransport()
    stub.on(.get, "/products/*", .file(folder.appending(path: "product.json")))
    stub.on(.get, "/products", .file(folder.appending(path: "products.json")))
    return stub
}
// end
