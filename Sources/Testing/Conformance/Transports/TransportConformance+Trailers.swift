internal import Foundation
internal import InterceptorsCore

// The parts of a response before and after its head and content.
extension TransportConformance {
    static let trailerLaws: [Law] = [
        Law(
            "trailersAreKnownWithTheContent",
            repair: "Keep the fields after the content apart, and set HTTPContext.trailers, to empty fields too.",
            for: [.connections, .trailers]
        ) { bench in
            let sent: HTTPFields = ["X-Trailer": "1", "Server-Timing": "db;dur=53", "x-trailer": "2"]
            bench.server.enqueue(.stream([Data("ok".utf8)], trailers: sent), .stream([Data("ok".utf8)]), .text("ok"))
            let expected: [HTTPFields] = [sent, [:], [:]]
            for fields in expected {
                let response = try await bench.send(try bench.request(), expecting: "ok")
                try expect(trailers(of: response), is: .success(fields), "The result of reading the trailers")
            }
        },
        Law(
            "theTrailersOfAStreamComeWithItsEnd",
            repair: "Set HTTPContext.trailers to pending ones with the head, and receive the fields before the end.",
            for: [.connections, .trailers, .responseStreams]
        ) { bench in
            let sent: HTTPFields = ["X-Trailer": "1"]
            bench.server.enqueue(.stream([Data("one".utf8), Data("two".utf8)], trailers: sent))
            let response = try await bench.send(try bench.request(mode: .streamed))
            let early = Trailers.failure(.trailersNotReceived)
            try expect(trailers(of: response), is: early, "The result of reading the trailers first")
            var iterator = response.body.makeAsyncIterator()
            var count = 0
            while count < 6, let chunk = try await bench.next(&iterator) { count += chunk.count }
            try expect(trailers(of: response), is: early, "The result of reading the trailers before the end")
            try await bench.drain(&iterator)
            try expect(trailers(of: response), is: .success(sent), "The result of reading the trailers at the end")
        },
        Law(
            "fieldsThatATrailerMustNotHoldAreDropped",
            repair: "Pass the fields through HTTPTrailers, and never merge them into the head (RFC 9110 §6.5.1).",
            for: [.connections, .trailers]
        ) { bench in
            let forbidden: HTTPFields = [.setCookie: "a=b", .contentType: "text/html", .contentLength: "9", "X-A": "1"]
            bench.server.enqueue(.stream([Data("ok".utf8)], trailers: forbidden))
            let response = try await bench.send(try bench.request(), expecting: "ok")
            try expect(trailers(of: response), is: .success(["X-A": "1"]), "The result of reading the trailers")
            for name in [HTTPField.Name.setCookie, .contentType, .contentLength] {
                try expect(response.headerFields[name], is: nil, "The field \(name)")
            }
        },
    ]

    static let interimLaws: [Law] = [
        Law(
            "interimResponsesAreTold",
            repair: "Call the closure of HTTPContext.interim with each head from 100 to 199, except 101.",
            for: [.connections, .interimResponses]
        ) { bench in
            try await bench.inEachMode { mode in
                bench.server.enqueue(
                    StubAnswer.text("ok")
                        .preceded(byInterim: 103, headers: [.link: "</b.css>"])
                        .preceded(byInterim: 103, headers: [.link: "</a.css>"])
                        .preceded(byInterim: 102)
                )
                let told = Guarded<[String]>([])
                var request = try bench.request(mode: mode)
                request.context.interim = { head in
                    let link = head.headerFields[.link].map { " \($0)" } ?? ""
                    told.change { $0.append("\(head.status.code)\(link)") }
                }
                let response = try await bench.send(request)
                let expected = ["102", "103 </a.css>", "103 </b.css>"]
                try expect(told.value, is: expected, "The list of interim responses")
                try expect(try await bench.text(response), is: "ok", "The content")
            }
        },
        Law(
            "endlessInterimResponsesAreAnError",
            repair: "Count the interim responses of an exchange, and end the exchange at a limit.",
            for: [.connections, .interimResponses]
        ) { bench in
            let steps = [MockServer.Step.send(Data("HTTP/1.1 102 Processing\r\n\r\n".utf8), times: 10_000)]
            bench.server.enqueue(.text("ok").preceded(by: steps))
            try await expectFailure(.invalidResponse) {
                var request = try bench.request()
                request.context.interim = { _ in }
                _ = try await bench.send(request)
            }
        },
    ]

    /// The outcome of reading trailers: the fields, or the code of the error.
    private enum Trailers: Equatable, CustomStringConvertible {
        case success(HTTPFields)
        case failure(HTTPErrorCode)

        var description: String {
            switch self {
            case .success(let fields): "[\(fields.map(\.description).joined(separator: ", "))]"
            case .failure(let code): "the error \(code.rawValue)"
            }
        }
    }

    private static func trailers(of response: HTTPResponse) throws -> Trailers {
        do {
            return .success(try response.trailers)
        } catch let error as any HTTPError {
            return .failure(error.code)
        }
    }
}
