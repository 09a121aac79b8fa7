import Foundation
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

// Requests, responses and their values.
extension MigrationRows {
    private struct UserByID: Endpoint {
        let id: Int

        var request: EndpointRequest<User> { .get("/users/\(id)", headers: ["X-Key": "k"]) }
    }

    static let messages: [String: Check] = [
        "TargetType": endpoint, "URLRequestConvertible routers": endpoint, "an enum of endpoints": endpoint,
        "URLSession, URLSessionConfiguration": aClient, "Session, AF": aClient, "MoyaProvider": endpoint,
        "MultiTarget": nothing, "baseURL of the target": absolutePath, "headers": fields,
        "URLRequest, HTTPURLResponse": messagesAsValues, "HTTPHeaders": messagesAsValues,
        "data(for:) and JSONDecoder": value, "map(User.self)": value,
        "ResponseSerializer, serializingDecodable": decoder,
        "dataTask(with:completionHandler:)": completion, "completion handlers": completion,
        "URLQueryItem": query, "httpAdditionalHeaders": fields,
        "timeoutIntervalForRequest, timeoutIntervalForResource": timeouts,
        "bytes(for:)": streamed, "DataStreamRequest": streamed,
        "delegate: URLSessionTaskMetrics": facts, "suggestedFilename": suggestedFilename,
    ]

    private static let endpoint: Check = { () async throws in
        let requests = try await sent { (api) async throws in
            #expect(try await api.call(UserByID(id: 42), as: User.self) == User())
        }
        #expect(requests.first?.url.absoluteString == "https://api.example.com/v1/users/42")
        #expect(requests.first?.headers["X-Key"] == "k")
    }

    private static let aClient: Check = { () async throws in
        let transports: [any Transport] = [.platform()]
        #expect(transports.count == 1)
        try await sent { (api) async throws in #expect(try await api.get("/users/42", as: User.self) == User()) }
    }

    private static let absolutePath: Check = { () async throws in
        let requests = try await sent([], [ada, ada]) {
            _ = try await $0.get("/users/42", as: User.self)
            _ = try await $0.get("https://other.example.com/users/42", as: User.self)
        }
        #expect(requests.map { $0.url.host() } == ["api.example.com", "other.example.com"])
    }

    private static let messagesAsValues: Check = { () async throws in
        let response = try await client([], .stub(.status(204, headers: ["X-Of": "stub"])))
            .send(HTTPRequest(url: base, headers: ["X-Of": "request"]))
        #expect(response.status == 204)
        #expect(response.headers["x-of"] == "stub")
    }

    private static let value: Check = { () async throws in
        try await sent {
            let user: User = try await $0.get("/users/42")
            #expect(user == User())
        }
    }

    private static let decoder: Check = { () async throws in
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        struct Name: Decodable, Sendable { let firstName: String }
        let client = Client(
            baseURL: base,
            interceptors: [],
            transport: .stub(.json(#"{"first_name":"Ada"}"#)),
            decoder: decoder
        )
        #expect(try await client.get("/users/42", as: Name.self).firstName == "Ada")
    }

    private static let completion: Check = { () async throws in
        let results = Notes<User>()
        try await sent { client in
            await client.run {
                try await $0.get("/users/42", as: User.self)
            } completion: { result in
                if case .success(let user) = result { results.add(user) }
            }.value
        }
        #expect(results.all == [User()])
    }

    private static let query: Check = { () async throws in
        let requests = try await sent { _ = try await $0.get("/users", as: User.self, query: ["page": 2]) }
        #expect(requests.first?.url.query() == "page=2")
    }

    private static let fields: Check = { () async throws in
        let requests = try await sent([.headers(["X-Client": "ios"])]) { _ = try await $0.get("/", as: User.self) }
        #expect(requests.first?.headers["X-Client"] == "ios")
        try await endpoint()
    }

    private static let timeouts: Check = { () async throws in
        let limits = Timeouts(idle: .seconds(7), total: .seconds(70))
        let requests = try await sent {
            _ = try await $0.get("/", as: User.self, context: .with(\.timeouts, limits))
        }
        #expect(requests.first?.context.timeouts?.idle == .seconds(7))
        #expect(requests.first?.context.timeouts?.total == .seconds(70))
    }

    private static let streamed: Check = { () async throws in
        let request = HTTPRequest(url: base, context: .with(\.responseBody, .streamed))
        let answer = StubAnswer.stream([Data("a".utf8), Data("b".utf8)])
        let response = try await client([], .stub(answer)).send(request)
        #expect(response.body.isUnreadStream)
        #expect(try await response.body.collect(upTo: 10) == Data("ab".utf8))
    }

    private static let facts: Check = { () async throws in
        let timings = TransferTimings(
            nameLookup: .zero,
            connect: .zero,
            tls: .zero,
            firstByte: .zero,
            total: .seconds(1),
            reusedConnection: false
        )
        let server = Recorder { _ in
            var response = HTTPResponse(status: 200)
            response.context.timings = timings
            return response
        }
        let response = try await client([], server).send(HTTPRequest(url: base))
        #expect(response.context.timings?.total == .seconds(1))
        #expect(response.context.connection == nil)
    }

    private static let suggestedFilename: Check = { () async throws in
        try await withFile { file in
            let name: HTTPFields = [.contentDisposition: "attachment; filename=\"../report.pdf\""]
            try await sent([], [.text("x", headers: name)]) { (api) async throws in
                #expect(try await api.download("/report", to: file).suggestedFilename == "report.pdf")
            }
        }
    }
}
