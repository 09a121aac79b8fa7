import Foundation
import Models

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

actor SignedInSession {
    private let session: URLSession
    private let baseURL: URL
    private var login: Login
    private var refresh: Task<Login, any Error>?

    init(session: URLSession, baseURL: URL, login: Login) {
        (self.session, self.baseURL, self.login) = (session, baseURL, login)
    }

    func data(for request: URLRequest) async throws -> Data {
        let used = login
        var (data, response) = try await session.data(for: authorized(request, by: used))
        if (response as? HTTPURLResponse)?.statusCode == 401 {
            if login.token == used.token { login = try await refreshed() }
            (data, response) = try await session.data(for: authorized(request, by: login))
        }
        guard let http = response as? HTTPURLResponse, 200..<300 ~= http.statusCode else {
            throw URLError(.userAuthenticationRequired)
        }
        return data
    }

    private func authorized(_ request: URLRequest, by login: Login) -> URLRequest {
        var request = request
        request.setValue("Bearer \(login.token)", forHTTPHeaderField: "Authorization")
        return request
    }

    private func refreshed() async throws -> Login {
        if let refresh { return try await refresh.value }
        let task = Task { [session, baseURL, login] in
            var request = URLRequest(url: baseURL.appending(path: "refresh"))
            request.httpMethod = "POST"
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            request.httpBody = try JSONEncoder().encode(["token": login.refreshToken])
            return try JSONDecoder().decode(Login.self, from: await session.data(for: request).0)
        }
        refresh = task
        defer { refresh = nil }
        return try await task.value
    }
}
