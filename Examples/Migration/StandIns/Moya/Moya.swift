// Moya doesn't build on Linux. These are the declarations of Moya 15 that the side before uses, without its code: they compile, but
// don't run. The declarations were checked by compiling that side with Moya 15.0.3 itself, ported to Linux for that purpose.

package import Alamofire
package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

package typealias Method = Alamofire.HTTPMethod
package typealias Session = Alamofire.Session

package struct URLEncoding: ParameterEncoding {
    package static var `default`: URLEncoding { standIn() }
}
package protocol ParameterEncoding: Sendable {}

package protocol TargetType {
    var baseURL: URL { get }
    var path: String { get }
    var method: Moya.Method { get }
    var sampleData: Data { get }
    var task: Task { get }
    var validationType: ValidationType { get }
    var headers: [String: String]? { get }
}

package enum Task {
    case requestPlain
    case requestJSONEncodable(any Encodable)
    case requestParameters(parameters: [String: Any], encoding: any ParameterEncoding)
    case uploadMultipart([MultipartFormData])
}

package struct MultipartFormData {
    package enum FormDataProvider {
        case data(Data)
        case file(URL)
    }
    package init(provider: FormDataProvider, name: String, fileName: String? = nil, mimeType: String? = nil) {}
}

package enum ValidationType {
    case none
    case successCodes
}

package final class Response {
    package var statusCode: Int { standIn() }
    package func map<D: Decodable>(_ type: D.Type) throws -> D { standIn() }
}

package enum MoyaError: Error {}

// MARK: Plugins

package protocol PluginType {
    func prepare(_ request: URLRequest, target: any TargetType) -> URLRequest
    func didReceive(_ result: Result<Moya.Response, MoyaError>, target: any TargetType)
    func process(
        _ result: Result<Moya.Response, MoyaError>,
        target: any TargetType
    ) -> Result<Moya.Response, MoyaError>
}

extension PluginType {
    package func prepare(_ request: URLRequest, target: any TargetType) -> URLRequest { standIn() }
    package func didReceive(_ result: Result<Moya.Response, MoyaError>, target: any TargetType) { standIn() }
    package func process(
        _ result: Result<Moya.Response, MoyaError>,
        target: any TargetType
    ) -> Result<Moya.Response, MoyaError> { standIn() }
}

package enum AuthorizationType {
    case bearer
}

package protocol AccessTokenAuthorizable {
    var authorizationType: AuthorizationType? { get }
}

package struct AccessTokenPlugin: PluginType {
    package init(tokenClosure: @escaping (any TargetType) -> String) {}
}

package final class NetworkLoggerPlugin: PluginType {
    package init() {}
}

// MARK: Providers

package enum StubBehavior {
    case never
    case immediate
}

package protocol Cancellable {
    func cancel()
}

package class Endpoint {
    package func adding(newHTTPHeaderFields: [String: String]) -> Endpoint { standIn() }
}

package class MoyaProvider<Target: TargetType> {
    package init(
        endpointClosure: @escaping (Target) -> Endpoint = MoyaProvider.defaultEndpointMapping,
        stubClosure: @escaping (Target) -> StubBehavior = { _ in .never },
        session: Session = Session(),
        plugins: [any PluginType] = []
    ) {}

    @discardableResult
    package func request(
        _ target: Target,
        completion: @escaping (Result<Moya.Response, MoyaError>) -> Void
    ) -> any Cancellable { standIn() }

    package final class func defaultEndpointMapping(for target: Target) -> Endpoint { standIn() }
    package final class func immediatelyStub(_: Target) -> StubBehavior { standIn() }
}
