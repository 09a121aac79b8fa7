import Foundation
import Models

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

struct Users {
    let session: URLSession
    let baseURL: URL

    // example: get
    func user(_ id: Int) async throws -> User {
        let url = baseURL.appending(path: "users/\(id)")
        let (data, response) = try await session.data(from: url)
        guard let http = response as? HTTPURLResponse, 200..<300 ~= http.statusCode else {
            throw URLError(.badServerResponse)
        }
        return try JSONDecoder().decode(User.self, from: data)
    }
    // end

    func search(_ term: String, page: Int) async throws -> [User] {
        let url = baseURL.appending(path: "users")
            .appending(queryItems: [
                URLQueryItem(name: "name", value: term),
                URLQueryItem(name: "page", value: "\(page)"),
            ])
        let (data, response) = try await session.data(from: url)
        guard let http = response as? HTTPURLResponse, 200..<300 ~= http.statusCode else {
            throw URLError(.badServerResponse)
        }
        return try JSONDecoder().decode([User].self, from: data)
    }

    func create(_ user: NewUser) async throws -> User {
        var request = URLRequest(url: baseURL.appending(path: "users"))
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try JSONEncoder().encode(user)
        let (data, response) = try await session.data(for: request)
        guard let http = response as? HTTPURLResponse, 200..<300 ~= http.statusCode else {
            throw URLError(.badServerResponse)
        }
        return try JSONDecoder().decode(User.self, from: data)
    }

    func dataWithRetry(_ path: String, pause: Duration = .seconds(1)) async throws -> Data {
        var attempt = 1
        while true {
            do {
                let (data, response) = try await session.data(from: baseURL.appending(path: path))
                let status = (response as? HTTPURLResponse)?.statusCode ?? 0
                if 200..<300 ~= status { return data }
                if attempt == 3 || !(500...599).contains(status) { throw URLError(.badServerResponse) }
            } catch let error as URLError where error.code == .networkConnectionLost && attempt < 3 {
                // Try again.
            }
            try await Task.sleep(for: pause * (1 << attempt))
            attempt += 1
        }
    }

    func upload(photo: Data, title: String) async throws {
        let boundary = UUID().uuidString
        var body = Data()
        body.append(Data("--\(boundary)\r\n".utf8))
        body.append(Data("Content-Disposition: form-data; name=\"title\"\r\n\r\n\(title)\r\n".utf8))
        body.append(Data("--\(boundary)\r\n".utf8))
        body.append(Data("Content-Disposition: form-data; name=\"photo\"; filename=\"photo.jpg\"\r\n".utf8))
        body.append(Data("Content-Type: image/jpeg\r\n\r\n".utf8))
        body.append(photo)
        body.append(Data("\r\n--\(boundary)--\r\n".utf8))

        var request = URLRequest(url: baseURL.appending(path: "photos"))
        request.httpMethod = "POST"
        request.setValue("multipart/form-data; boundary=\(boundary)", forHTTPHeaderField: "Content-Type")
        let (_, response) = try await session.upload(for: request, from: body)
        guard let http = response as? HTTPURLResponse, 200..<300 ~= http.statusCode else {
            throw URLError(.badServerResponse)
        }
    }

    func loggedData(for request: URLRequest) async throws -> Data {
        print("→", request.httpMethod ?? "GET", request.url?.absoluteString ?? "")
        print(request.allHTTPHeaderFields ?? [:])
        let (data, response) = try await session.data(for: request)
        print("←", (response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self))
        return data
    }
}
