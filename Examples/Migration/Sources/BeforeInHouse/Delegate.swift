import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

protocol NetworkingDelegate: AnyObject {
    func bearerToken() -> String?
    func didReceiveUnauthorized(completion: @escaping (_ isLoggedIn: Bool) -> Void)
}

enum NetworkingError: Error {
    case status(Int)
}

final class Networking {
    weak var delegate: (any NetworkingDelegate)?
    private let baseURL: URL
    private let session: URLSession

    init(baseURL: URL, session: URLSession = .shared) {
        self.baseURL = baseURL
        self.session = session
    }

    func get<T: Decodable>(_ path: String, completion: @escaping (Result<T, any Error>) -> Void) {
        send(path, isSecondTry: false, completion: completion)
    }

    private func send<T: Decodable>(
        _ path: String,
        isSecondTry: Bool,
        completion: @escaping (Result<T, any Error>) -> Void
    ) {
        var request = URLRequest(url: baseURL.appendingPathComponent(path))
        if let token = delegate?.bearerToken() {
            request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        }
        session.dataTask(with: request) { data, response, error in
            if let error { return completion(.failure(error)) }
            let status = (response as? HTTPURLResponse)?.statusCode ?? 0
            if status == 401, !isSecondTry, let delegate = self.delegate {
                delegate.didReceiveUnauthorized { isLoggedIn in
                    guard isLoggedIn else { return completion(.failure(NetworkingError.status(401))) }
                    self.send(path, isSecondTry: true, completion: completion)
                }
                return
            }
            guard 200..<300 ~= status else { return completion(.failure(NetworkingError.status(status))) }
            completion(Result { try JSONDecoder().decode(T.self, from: data ?? Data()) })
        }.resume()
    }
}
