import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

struct Wrapped<T: Decodable>: Decodable {
    let status: String  // "ok", or the code of an error
    let message: String?
    let data: T?
}

struct ServiceError: Error {
    let status: String
    let message: String?
}

class Service<T: Decodable> {
    let baseURL: URL

    init(baseURL: URL) {
        self.baseURL = baseURL
    }

    func fetch(path: String, completion: @escaping (Result<T, any Error>) -> Void) {
        let url = baseURL.appendingPathComponent(path)
        URLSession.shared.dataTask(with: url) { data, _, error in
            let result = Result<T, any Error> {
                if let error { throw error }
                let wrapped = try JSONDecoder().decode(Wrapped<T>.self, from: data ?? Data())
                guard wrapped.status == "ok", let value = wrapped.data else {
                    throw ServiceError(status: wrapped.status, message: wrapped.message)
                }
                return value
            }
            DispatchQueue.main.async { completion(result) }
        }.resume()
    }
}
