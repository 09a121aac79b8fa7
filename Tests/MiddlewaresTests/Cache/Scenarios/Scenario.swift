import Foundation
import Interceptors
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares

/// Requests one after another, each with the server's answer, if it is asked, and the expected response.
struct Scenario: Sendable, CustomTestStringConvertible {
    struct Step: Sendable {
        enum Server: Sendable {
            /// The server must not be asked.
            case silent
            case answers(HTTPResponse.Status, [String], String)
            /// The server can't be reached.
            case gone
        }

        var wait = 0
        var method: HTTPRequest.Method = .get
        var path = "x"
        var request: [String] = []
        var mode: CacheMode = .standard
        var server: Server
        var expected: String
        /// Fields of the response. An empty value means that the field must be absent.
        var fields: [String: String] = [:]
        /// Fields of the request as the server sees it. An empty value means that the field must be absent.
        var sent: [String: String] = [:]

        /// The server must be asked, and its answer is returned.
        static func fetch(
            _ lines: [String] = [],
            _ body: String = "one",
            status: HTTPResponse.Status = 200,
            method: HTTPRequest.Method = .get,
            path: String = "x",
            request: [String] = [],
            wait: Int = 0,
            sent: [String: String] = [:],
            as expected: String? = nil,
            fields: [String: String] = [:]
        ) -> Self {
            let content = method == .head || status == 204 || status == 304 ? "" : body
            return Self(
                wait: wait,
                method: method,
                path: path,
                request: request,
                server: .answers(status, lines, content),
                expected: expected ?? "\(status.code) miss \(content)",
                fields: fields,
                sent: sent
            )
        }

        /// The answer must come from the store.
        static func stored(
            _ expected: String = "200 hit one",
            method: HTTPRequest.Method = .get,
            path: String = "x",
            request: [String] = [],
            mode: CacheMode = .standard,
            wait: Int = 0,
            fields: [String: String] = [:]
        ) -> Self {
            Self(
                wait: wait,
                method: method,
                path: path,
                request: request,
                mode: mode,
                server: .silent,
                expected: expected,
                fields: fields
            )
        }

        /// The server is asked, but can't be reached.
        static func disconnected(_ expected: String, wait: Int = 0, request: [String] = []) -> Self {
            Self(wait: wait, request: request, server: .gone, expected: expected)
        }
    }

    let name: String
    let steps: [Step]

    init(_ name: String, _ steps: Step...) { self.init(name, steps: steps) }

    init(_ name: String, steps: [Step]) {
        self.name = name
        self.steps = steps
    }

    var testDescription: String { name }

    func play(in world: CacheWorld) async throws {
        for (number, step) in steps.enumerated() {
            let place = Comment(rawValue: "\(name), step \(number + 1)")
            world.advance(step.wait)
            let before = world.stub.requests.count
            switch step.server {
            case .silent: break
            case .answers(let status, let lines, let body): world.answer(status, lines, body)
            case .gone: world.stub.enqueue(.failure(TransportError(.connectionLost, "Gone.")))
            }
            let request = try world.request(step.request, step.method, path: step.path, mode: step.mode)
            let (text, headers) = await outcome(of: request, in: world)
            #expect(text == step.expected, place)
            for (field, value) in step.fields {
                #expect(headers[values: HTTPField.Name(stringLiteral: field)].joined(separator: "|") == value, place)
            }
            let asked = world.stub.requests.dropFirst(before)
            if case .silent = step.server { #expect(asked.isEmpty, place) } else { #expect(asked.count == 1, place) }
            for (field, value) in step.sent {
                #expect(asked.first?.headers[HTTPField.Name(stringLiteral: field)] ?? "" == value, place)
            }
        }
    }

    private func outcome(of request: HTTPRequest, in world: CacheWorld) async -> (String, HTTPFields) {
        do {
            let response = try await world.chain.send(request)
            let body = String(decoding: try await response.body.collect(upTo: 1 << 20), as: UTF8.self)
            let result = response.context.cacheOutcome?.result.description ?? "none"
            return ("\(response.status.code) \(result) \(body)", response.headers)
        } catch {
            return ((error as? TransportError).map { "\($0.code)" } ?? "\(error)", [:])
        }
    }
}
