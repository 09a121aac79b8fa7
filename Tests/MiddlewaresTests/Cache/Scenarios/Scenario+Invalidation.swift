import Interceptors

@testable import InterceptorsMiddlewares

extension Scenario {
    private static let kept = Step.fetch(["Cache-Control: max-age=60"])

    /// Sends an unsafe request after a response was stored, and checks whether the response is still stored.
    private static func change(
        _ method: HTTPRequest.Method,
        _ status: HTTPResponse.Status = 200,
        _ lines: [String] = [],
        on path: String = "x",
        invalidates: Bool
    ) -> Scenario {
        Scenario(
            "\(method) /\(path) \(status.code) \(lines) invalidates /x: \(invalidates)",
            kept,
            .fetch(lines, status: status, method: method, path: path),
            invalidates ? .fetch([], "two") : .stored()
        )
    }

    private static func changes(_ method: HTTPRequest.Method) -> [Scenario] {
        [
            change(method, invalidates: true), change(method, 201, invalidates: true),
            change(method, 303, invalidates: true), change(method, 404, invalidates: false),
            change(method, 500, invalidates: false), change(method, on: "y", invalidates: false),
            change(method, 201, ["Location: /x"], on: "y", invalidates: true),
            change(method, 200, ["Content-Location: x#top"], on: "y", invalidates: true),
            change(method, 200, ["Location: https://a.example/x"], on: "y", invalidates: true),
            change(method, 201, ["Location: https://b.example/x"], on: "y", invalidates: false),
            change(method, 201, ["Location: http://a.example/x"], on: "y", invalidates: false),
            change(method, 201, ["Location: https://a.example:444/x"], on: "y", invalidates: false),
            change(method, 201, ["Location: https://a.example@b.example/x"], on: "y", invalidates: false),
            change(method, 500, ["Location: /x"], on: "y", invalidates: false),
        ]
    }

    private static let unsafeMethods: [HTTPRequest.Method] = [.post, .put, .delete, .patch, "M-SEARCH", "post"]

    /// RFC 9111 §4.4.
    static let invalidation: [Scenario] =
        unsafeMethods.flatMap { changes($0) } + [
            change(.options, invalidates: false), change("TRACE", invalidates: false),
            change(.query, invalidates: false),
            change(.get, 200, ["Location: /x", "Cache-Control: no-store"], on: "y", invalidates: false),
            Scenario(
                "all variants go",
                .fetch(["Cache-Control: max-age=60", "Vary: A"], request: ["A: 1"]),
                .fetch(["Cache-Control: max-age=60", "Vary: A"], request: ["A: 2"]),
                .fetch(method: .post),
                .fetch(["Vary: A"], request: ["A: 1"]),
                .fetch(["Vary: A"], request: ["A: 2"])
            ),
        ]

    private static func gone(_ directives: String, _ expected: String, request: [String] = []) -> Scenario {
        Scenario(
            "no connection, \(directives), asked with \(request)",
            .fetch(["Cache-Control: max-age=5, \(directives)"]),
            .disconnected(expected, wait: 10, request: request)
        )
    }

    private static func failing(_ directives: String, _ status: HTTPResponse.Status, isStale: Bool) -> Scenario {
        Scenario(
            "\(status.code), \(directives)",
            .fetch(["Cache-Control: max-age=5, \(directives)"]),
            .fetch([], "two", status: status, wait: 10, as: isStale ? "200 stale one" : nil)
        )
    }

    /// RFC 9111 §4.2.4, §5.2.2.2; RFC 5861.
    static let stale: [Scenario] = [
        gone("x", "200 stale one"), gone("must-revalidate", "504 unsatisfiable "),
        gone("proxy-revalidate", "200 stale one"), gone("no-cache", "504 unsatisfiable "),
        gone("s-maxage=1", "200 stale one"), gone("stale-if-error=60", "200 stale one"),
        gone("stale-if-error=60, must-revalidate", "504 unsatisfiable "),
        gone("x", "504 unsatisfiable ", request: ["Cache-Control: no-cache"]),
        gone("x", "504 unsatisfiable ", request: ["Cache-Control: max-age=1"]),
        gone("x", "504 unsatisfiable ", request: ["Pragma: no-cache"]),
        failing("x", 503, isStale: false), failing("stale-if-error=60", 500, isStale: true),
        failing("stale-if-error=60", 503, isStale: true), failing("stale-if-error=60", 404, isStale: false),
        failing("stale-if-error=4", 503, isStale: false), failing("stale-if-error=5", 503, isStale: true),
        failing("stale-if-error=60, must-revalidate", 503, isStale: false),
        failing("stale-if-error=60, no-cache", 503, isStale: false),
        Scenario("nothing stored and no connection", .disconnected("connectionLost")),
        Scenario(
            "anything goes for who knows to be offline",
            .fetch(["Cache-Control: max-age=5, must-revalidate, no-cache"]),
            .stored("200 stale one", mode: .offline, wait: 99_999),
            .stored("504 unsatisfiable ", path: "y", mode: .offline)
        ),
        Scenario(
            "where nothing may be sent, nothing is sent afterwards either",
            .fetch(["Cache-Control: max-age=5, stale-while-revalidate=60"]),
            .stored("200 stale one", mode: .onlyIfCached, wait: 10),
            .stored("200 stale one", request: ["Cache-Control: only-if-cached"]),
            .stored("200 stale one", mode: .offline)
        ),
        Scenario(
            "what isn't to be stored isn't validated in the background: the server is asked at once",
            .fetch(["Cache-Control: max-age=5, stale-while-revalidate=60"]),
            Step(wait: 10, mode: .doNotStore, server: .answers(200, [], "two"), expected: "200 miss two"),
            .fetch([], "three", request: ["Cache-Control: no-store"])
        ),
    ]
}
