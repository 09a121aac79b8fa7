internal import Foundation
internal import InterceptorsCore

// The rules about tasks that a transport leaves to interceptors.
extension TransportConformance {
    static let restraintLaws: [Law] = [
        Law("redirectsAreNotFollowed", repair: "Turn off the redirects of the HTTP library.") { bench in
            for status in [HTTPResponse.Status(integerLiteral: 301), 302, 303, 307, 308] {
                bench.server.enqueue(.status(status, headers: [.location: "/next"], body: "moved"))
                let response = try await bench.send(try bench.request("/old"))
                try expect(response.status, is: status, "The status")
                try expect(response.headerFields[.location], is: "/next", "Location")
            }
            try expect(bench.server.requests.allSatisfy { $0.path == "/old" }, "The transport followed a redirect.")
        },
        Law("statusesThatInviteAnotherAttemptAreNotRetried", repair: "Turn off the library's retries.") { bench in
            for status in [HTTPResponse.Status(integerLiteral: 401), 407, 408, 425, 429, 502, 503, 504] {
                let fields: HTTPFields = [
                    .retryAfter: "0", .wwwAuthenticate: "Basic realm=\"a\"", .proxyAuthenticate: "Basic realm=\"a\"",
                ]
                bench.server.on(.get, "/", .status(status, headers: fields))
                let before = bench.server.requests.count
                let response = try await bench.send(try bench.request())
                try expect(response.status, is: status, "The status")
                try expect(bench.server.requests.count, is: before + 1, "The number of requests at the server")
            }
        },
        Law("cookiesAreNotKept", repair: "Turn off the cookie storage of the HTTP library.") { bench in
            bench.server.on(.get, "/", .status(200, headers: [.setCookie: "a=1; Path=/; Max-Age=1000"]))
            _ = try await bench.send(try bench.request())
            _ = try await bench.send(try bench.request())
            let received = try await bench.received(atLeast: 2)
            try expect(!received.contains { $0.headerFields.contains(.cookie) }, "The transport sent a cookie back.")
        },
        Law("nothingIsCached", repair: "Turn off the cache of the HTTP library.") { bench in
            bench.server.on(.get, "/", .status(200, headers: [.cacheControl: "max-age=3600", .eTag: "\"a\""]))
            _ = try await bench.send(try bench.request())
            _ = try await bench.send(try bench.request())
            try expect(bench.server.requests.count, is: 2, "The number of requests at the server")
        },
    ]
}
