import Foundation
import Models

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

protocol DataSession {
    func load(_ request: URLRequest, completion: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void)
}

extension URLSession: DataSession {
    func load(_ request: URLRequest, completion: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void) {
        dataTask(with: request, completionHandler: completion).resume()
    }
}

final class RequestOperation<T: Decodable>: Operation, @unchecked Sendable {
    private(set) var result: Result<T, any Error> = .failure(CancellationError())
    private let request: URLRequest
    private let session: any DataSession

    init(_ request: URLRequest, session: any DataSession) {
        self.request = request
        self.session = session
    }

    override func main() {
        guard !isCancelled else { return }
        let done = DispatchSemaphore(value: 0)
        session.load(request) { data, _, error in
            self.result = Result {
                if let error { throw error }
                return try JSONDecoder().decode(T.self, from: data ?? Data())
            }
            done.signal()
        }
        done.wait()
    }
}

final class UserLoader {
    private let baseURL: URL
    private let session: any DataSession
    private let queue = OperationQueue()

    init(baseURL: URL, session: any DataSession = URLSession.shared) {
        (self.baseURL, self.session) = (baseURL, session)
        queue.maxConcurrentOperationCount = 2
    }

    func users(_ ids: [Int], completion: @escaping ([User]) -> Void) {
        let operations = ids.map { id in
            RequestOperation<User>(URLRequest(url: baseURL.appendingPathComponent("users/\(id)")), session: session)
        }
        let end = BlockOperation { completion(operations.compactMap { try? $0.result.get() }) }
        operations.forEach(end.addDependency)
        queue.addOperations(operations + [end], waitUntilFinished: false)
    }

    func cancel() {
        queue.cancelAllOperations()
    }
}

final class MockSession: DataSession {
    var bodies: [String: String] = [:]

    func load(_ request: URLRequest, completion: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void) {
        completion(bodies[request.url?.path ?? ""].map { Data($0.utf8) }, nil, nil)
    }
}
