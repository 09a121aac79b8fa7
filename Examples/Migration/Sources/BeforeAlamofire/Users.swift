import Alamofire
import Foundation
import Models

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// example: session
func makeSession(_ account: AuthenticationInterceptor<Account>) -> Session {
    Session(
        interceptor: Interceptor(interceptors: [account, RetryPolicy(retryLimit: 2)]),
        eventMonitors: [Logger()]
    )
}
// end

struct Filter: Encodable, Sendable {
    let ids: [Int]
    let isActive: Bool
    let name: String
}

struct Users {
    let session: Session
    let baseURL: URL

    func user(_ id: Int) async throws -> User {
        try await session.request(baseURL.appendingPathComponent("users/\(id)"))
            .validate()
            .serializingDecodable(User.self)
            .value
    }

    func showUser(_ id: Int, completion: @escaping @Sendable (Result<User, AFError>) -> Void) {
        session.request(baseURL.appendingPathComponent("users/\(id)"))
            .validate()
            .responseDecodable(of: User.self) { completion($0.result) }
    }

    func search(_ filter: Filter) async throws -> [User] {
        try await session.request(baseURL.appendingPathComponent("users"), parameters: filter)
            .validate()
            .serializingDecodable([User].self)
            .value
    }

    func create(_ user: NewUser) async throws -> User {
        let url = baseURL.appendingPathComponent("users")
        return try await session.request(url, method: .post, parameters: user, encoder: .json)
            .validate()
            .serializingDecodable(User.self)
            .value
    }

    func upload(photo: Data, title: String) async throws {
        let url = baseURL.appendingPathComponent("photos")
        _ = try await session.upload(
            multipartFormData: { form in
                form.append(Data(title.utf8), withName: "title")
                form.append(photo, withName: "photo", fileName: "photo.jpg", mimeType: "image/jpeg")
            },
            to: url
        )
        .validate()
        .serializingData()
        .value
    }

    func download(to file: URL) async throws {
        let url = baseURL.appendingPathComponent("film")
        _ = try await session.download(url, to: { _, _ in (file, [.removePreviousFile]) })
            .validate()
            .serializingDownloadedFileURL()
            .value
    }

    func location(of path: String) async throws -> String? {
        let url = baseURL.appendingPathComponent(path)
        return await session.request(url)
            .redirect(using: .doNotFollow)
            .serializingData()
            .response.response?.headers["Location"]
    }
}

struct LanguageAdapter: RequestInterceptor {
    let language: String

    func adapt(
        _ urlRequest: URLRequest,
        for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        var request = urlRequest
        request.headers.update(name: "Accept-Language", value: language)
        completion(.success(request))
    }
}

struct Credential: AuthenticationCredential {
    let token: String
    let refreshToken: String
    var requiresRefresh: Bool { false }
}

final class Account: Authenticator {
    private let baseURL: URL

    init(baseURL: URL) {
        self.baseURL = baseURL
    }

    func apply(_ credential: Credential, to urlRequest: inout URLRequest) {
        urlRequest.headers.add(.authorization(bearerToken: credential.token))
    }

    func refresh(
        _ credential: Credential,
        for session: Session,
        completion: @escaping @Sendable (Result<Credential, any Error>) -> Void
    ) {
        let url = baseURL.appendingPathComponent("refresh")
        AF.request(url, method: .post, parameters: ["token": credential.refreshToken], encoder: .json)
            .validate()
            .responseDecodable(of: Login.self) { response in
                completion(
                    response.result
                        .map { Credential(token: $0.token, refreshToken: $0.refreshToken) }
                        .mapError { $0 }
                )
            }
    }

    func didRequest(
        _ urlRequest: URLRequest,
        with response: HTTPURLResponse,
        failDueToAuthenticationError error: any Error
    ) -> Bool {
        response.statusCode == 401
    }

    func isRequest(_ urlRequest: URLRequest, authenticatedWith credential: Credential) -> Bool {
        urlRequest.headers["Authorization"] == HTTPHeader.authorization(bearerToken: credential.token).value
    }
}

func makeAccount(_ baseURL: URL, login: Login) -> AuthenticationInterceptor<Account> {
    let credential = Credential(token: login.token, refreshToken: login.refreshToken)
    return AuthenticationInterceptor(authenticator: Account(baseURL: baseURL), credential: credential)
}

final class Logger: EventMonitor {
    let queue = DispatchQueue(label: "logger")

    func requestDidResume(_ request: Request) {
        request.cURLDescription { print("→", $0) }
    }

    func requestDidFinish(_ request: Request) {
        print("←", request.response?.statusCode ?? 0, request)
    }
}

#if canImport(Security)
func makePinnedSession() -> Session {
    // Pins the public keys of the certificates in the app's bundle.
    Session(serverTrustManager: ServerTrustManager(evaluators: ["api.example.com": PublicKeysTrustEvaluator()]))
}
#endif

func storesNothing() -> Session {
    Session(cachedResponseHandler: .doNotCache)
}
