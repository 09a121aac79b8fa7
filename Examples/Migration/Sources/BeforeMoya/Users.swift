import Foundation
import Models
import Moya

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

enum Environment {
    nonisolated(unsafe) static var apiURL = URL(string: "https://api.example.com")!
}

// example: target
enum UsersTarget {
    case user(id: Int)
    case search(name: String, page: Int)
    case create(NewUser)
    case upload(photo: Data, title: String)
}

extension UsersTarget: TargetType, AccessTokenAuthorizable {
    var baseURL: URL { Environment.apiURL }
    var path: String {
        switch self {
        case .user(let id): "users/\(id)"
        case .search, .create: "users"
        case .upload: "photos"
        }
    }
    var method: Moya.Method {
        switch self {
        case .user, .search: .get
        case .create, .upload: .post
        }
    }
    var task: Moya.Task {
        switch self {
        case .user:
            .requestPlain
        case .search(let name, let page):
            .requestParameters(parameters: ["name": name, "page": page], encoding: URLEncoding.default)
        case .create(let user):
            .requestJSONEncodable(user)
        case .upload(let photo, let title):
            .uploadMultipart([
                MultipartFormData(provider: .data(Data(title.utf8)), name: "title"),
                MultipartFormData(provider: .data(photo), name: "photo", fileName: "photo.jpg", mimeType: "image/jpeg"),
            ])
        }
    }
    var headers: [String: String]? { nil }
    var validationType: ValidationType { .successCodes }
    var authorizationType: AuthorizationType? { .bearer }
    var sampleData: Data { Data(#"{"id":42,"name":"Ada"}"#.utf8) }
}
// end

func makeProvider(token: @escaping () -> String) -> MoyaProvider<UsersTarget> {
    MoyaProvider(plugins: [AccessTokenPlugin { _ in token() }, NetworkLoggerPlugin()])
}

func user(
    _ id: Int,
    from provider: MoyaProvider<UsersTarget>,
    completion: @escaping (Result<User, any Error>) -> Void
) {
    provider.request(.user(id: id)) { result in
        completion(Result { try result.get().map(User.self) })
    }
}

struct LanguagePlugin: PluginType {
    let language: String

    func prepare(_ request: URLRequest, target: any TargetType) -> URLRequest {
        var request = request
        request.setValue(language, forHTTPHeaderField: "Accept-Language")
        return request
    }

    func didReceive(_ result: Result<Moya.Response, MoyaError>, target: any TargetType) {
        if case .success(let response) = result { print(target.path, response.statusCode) }
    }
}

func makeProvider(key: String) -> MoyaProvider<UsersTarget> {
    MoyaProvider(endpointClosure: { target in
        MoyaProvider.defaultEndpointMapping(for: target).adding(newHTTPHeaderFields: ["X-Client": key])
    })
}

func makeStubbedProvider() -> MoyaProvider<UsersTarget> {
    MoyaProvider(stubClosure: MoyaProvider.immediatelyStub)
}
