// CI has no access to Alamofire. These are the declarations of Alamofire 5.12 that the side before uses, without its code: they
// compile, but don't run. The declarations were checked by compiling that side with Alamofire 5.12.0 itself.

package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

package func standIn() -> Never {
    fatalError("This is a declaration of a package's interface, without its code.")
}

// swift-format-ignore: AlwaysUseLowerCamelCase
package let AF = Session()

package enum AFError: Error {
    case explicitlyCancelled
}

package struct HTTPMethod: Sendable {
    package static let get = HTTPMethod(rawValue: "GET")
    package static let post = HTTPMethod(rawValue: "POST")
    package let rawValue: String
}

package struct HTTPHeader: Sendable {
    package var value: String { standIn() }
    package static func authorization(bearerToken: String) -> HTTPHeader { standIn() }
}

package struct HTTPHeaders: Sendable {
    package subscript(_ name: String) -> String? { standIn() }
    package mutating func add(_ header: HTTPHeader) { standIn() }
    package mutating func update(name: String, value: String) { standIn() }
}

extension URLRequest {
    package var headers: HTTPHeaders {
        get { standIn() }
        set { standIn() }
    }
}

extension HTTPURLResponse {
    package var headers: HTTPHeaders { standIn() }
}

// MARK: Sessions

package class Session: @unchecked Sendable {
    package init(
        configuration: URLSessionConfiguration = .default,
        startRequestsImmediately: Bool = true,
        interceptor: (any RequestInterceptor)? = nil,
        serverTrustManager: ServerTrustManager? = nil,
        cachedResponseHandler: (any CachedResponseHandler)? = nil,
        eventMonitors: [any EventMonitor] = []
    ) {}

    package func request(_ url: URL) -> DataRequest { standIn() }
    package func request<Parameters: Encodable & Sendable>(
        _ url: URL,
        method: HTTPMethod = .get,
        parameters: Parameters? = nil,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder()
    ) -> DataRequest { standIn() }
    package func upload(multipartFormData: @escaping (MultipartFormData) -> Void, to url: URL) -> UploadRequest {
        standIn()
    }
    package func download(_ url: URL, to destination: DownloadRequest.Destination? = nil) -> DownloadRequest {
        standIn()
    }
}

package protocol ParameterEncoder: Sendable {}
package struct JSONParameterEncoder: ParameterEncoder {}
package struct URLEncodedFormParameterEncoder: ParameterEncoder {
    package init() {}
}
extension ParameterEncoder where Self == JSONParameterEncoder {
    package static var json: JSONParameterEncoder { standIn() }
}

package class MultipartFormData {
    package func append(_ data: Data, withName name: String, fileName: String? = nil, mimeType: String? = nil) {
        standIn()
    }
}

// MARK: Requests

package class Request: @unchecked Sendable, CustomStringConvertible {
    package var description: String { standIn() }
    package var response: HTTPURLResponse? { standIn() }
    @discardableResult
    package func cURLDescription(calling handler: @escaping @Sendable (String) -> Void) -> Self { standIn() }
    @discardableResult
    package func redirect(using handler: any RedirectHandler) -> Self { standIn() }
}

package class DataRequest: Request, @unchecked Sendable {
    @discardableResult
    package func validate() -> Self { standIn() }
    @discardableResult
    package func responseDecodable<Value: Decodable & Sendable>(
        of type: Value.Type,
        completionHandler: @escaping @Sendable (DataResponse<Value, AFError>) -> Void
    ) -> Self { standIn() }
    package func serializingDecodable<Value: Decodable & Sendable>(_ type: Value.Type) -> DataTask<Value> { standIn() }
    package func serializingData() -> DataTask<Data> { standIn() }
}

package class UploadRequest: DataRequest, @unchecked Sendable {}

package class DownloadRequest: Request, @unchecked Sendable {
    package struct Options: OptionSet, Sendable {
        package static let removePreviousFile = Options(rawValue: 1 << 1)
        package let rawValue: Int
        package init(rawValue: Int) { self.rawValue = rawValue }
    }
    package typealias Destination = @Sendable (URL, HTTPURLResponse) -> (destinationURL: URL, options: Options)

    @discardableResult
    package func validate() -> Self { standIn() }
    package func serializingDownloadedFileURL() -> DownloadTask<URL> { standIn() }
}

package struct DataResponse<Success: Sendable, Failure: Error>: Sendable {
    package let response: HTTPURLResponse?
    package let result: Result<Success, Failure>
}

package struct DataTask<Value: Sendable>: Sendable {
    package var value: Value { get async throws { standIn() } }
    package var response: DataResponse<Value, AFError> { get async { standIn() } }
}

package struct DownloadTask<Value: Sendable>: Sendable {
    package var value: Value { get async throws { standIn() } }
}

// MARK: Interceptors

package enum RetryResult: Sendable {
    case retry
    case retryWithDelay(TimeInterval)
    case doNotRetry
    case doNotRetryWithError(any Error)
}

package protocol RequestInterceptor: Sendable {
    func adapt(
        _ urlRequest: URLRequest,
        for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    )
    func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    )
}

extension RequestInterceptor {
    package func adapt(
        _ urlRequest: URLRequest,
        for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) { standIn() }
    package func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) { standIn() }
}

package final class Interceptor: RequestInterceptor {
    package init(interceptors: [any RequestInterceptor]) {}
}

package class RetryPolicy: RequestInterceptor, @unchecked Sendable {
    package init(retryLimit: UInt = 2, exponentialBackoffScale: Double = 0.5) {}
}

package protocol AuthenticationCredential {
    var requiresRefresh: Bool { get }
}

package protocol Authenticator: AnyObject, Sendable {
    associatedtype Credential: AuthenticationCredential & Sendable

    func apply(_ credential: Credential, to urlRequest: inout URLRequest)
    func refresh(
        _ credential: Credential,
        for session: Session,
        completion: @escaping @Sendable (Result<Credential, any Error>) -> Void
    )
    func didRequest(
        _ urlRequest: URLRequest,
        with response: HTTPURLResponse,
        failDueToAuthenticationError error: any Error
    ) -> Bool
    func isRequest(_ urlRequest: URLRequest, authenticatedWith credential: Credential) -> Bool
}

package final class AuthenticationInterceptor<AuthenticatorType: Authenticator>: RequestInterceptor {
    package init(authenticator: AuthenticatorType, credential: AuthenticatorType.Credential? = nil) {}
}

// MARK: Handlers and monitors

package protocol RedirectHandler: Sendable {}
package struct Redirector: RedirectHandler {}
extension RedirectHandler where Self == Redirector {
    package static var doNotFollow: Redirector { standIn() }
}

package protocol CachedResponseHandler: Sendable {}
package struct ResponseCacher: CachedResponseHandler {}
extension CachedResponseHandler where Self == ResponseCacher {
    package static var doNotCache: ResponseCacher { standIn() }
}

package protocol EventMonitor: Sendable {
    var queue: DispatchQueue { get }
    func requestDidResume(_ request: Request)
    func requestDidFinish(_ request: Request)
}

package class ServerTrustManager: @unchecked Sendable {
    package init(evaluators: [String: any ServerTrustEvaluating]) {}
}
package protocol ServerTrustEvaluating: Sendable {}
#if canImport(Security)
package final class PublicKeysTrustEvaluator: ServerTrustEvaluating {
    package init() {}
}
#endif
