internal import Foundation
internal import InterceptorsCore

extension InterceptorConformance {
    static let contractLaws: [Law] = [
        Law(
            "eachCallIsSentOnce",
            repair: "Call next once on every path, or declare the role that says otherwise.",
            for: { !$0.includes(.resends) && !$0.answersItself && !$0.includes(.breaksCircuit) }
        ) { bench in
            for answer in RefusingAnswer.all {
                for method in [HTTPRequest.Method.get, .post] {
                    let fresh = try bench.fresh { try answer.respond($0, $1) }
                    let body: HTTPBody = method == .post ? "content" : .empty
                    (try? await fresh.send(try fresh.request("/things", method, body: body)))?.body.discard()
                    await fresh.stage.settle()
                    let count = fresh.server.arrivals.count
                    try expect(count == 1, "A \(method) that got \(answer.name) was sent \(count) times.")
                }
            }
        },
        Law(
            "aPostOfUnknownFateIsNotRepeated",
            repair: "Repeat only if the method is idempotent, there is a key, or the error says sentNothing.",
            for: { $0.includes(.resends) }
        ) { bench in
            for isLate in [false, true] {
                let fresh = try bench.fresh { arrival, _ in
                    if isLate { try await bench.world.clock.sleep(for: .seconds(100)) }
                    throw TransportError(.connectionLost, "The connection was lost.", request: arrival.request)
                }
                _ = try? await fresh.send(try fresh.request("/orders", .post, body: "an order"))
                let arrivals = fresh.server.arrivals
                let keys = Set(arrivals.map { $0.request.headerFields[.idempotencyKey] })
                let end = isLate ? "didn't answer for a time" : "lost its connection"
                let kind = keys.contains(nil) ? "without a key" : "with \(keys.count) keys"
                try expect(
                    arrivals.count <= 1 || keys.count == 1 && !keys.contains(nil),
                    "A POST that \(end) was sent \(arrivals.count) times \(kind)."
                )
            }
        },
        Law(
            "aCredentialGoesToItsOriginOnly",
            repair: "Add the credential only if Origin(request.url) is the credential's origin.",
            for: { $0.includes(.addsCredentials) }
        ) { bench in
            for (scheme, host) in Self.strangers {
                let fresh = try bench.fresh()
                _ = try? await fresh.send(try fresh.request(scheme: scheme, host: host))
                for arrival in fresh.server.arrivals {
                    try expect(!fresh.showsSecret(arrival.request), "The credential was sent to \(scheme)://\(host).")
                }
            }
        },
        Law(
            "aCredentialIsDeclared",
            repair: "Call request.identifyCaller(by:as:) for each request, before you add the credential.",
            for: { $0.includes(.identifiesCaller) && $0.includes(.addsCredentials) }
        ) { bench in
            var request = try bench.request()
            request.shareResponse(by: "cache")
            do {
                _ = try await bench.send(request)
            } catch {
                return
            }
            for arrival in bench.server.arrivals {
                try expect(
                    !bench.showsSecret(arrival.request),
                    "A credential was added inside a cache, and no error said so."
                )
            }
        },
        Law("aSharedResponseIsDeclared", repair: "Call shareResponse(by:).", for: { $0.includes(.shares) }) { bench in
            let names = Guarded<[String?]>([])
            bench.server.answer { arrival, server in
                names.change { $0.append(arrival.request.context.sharedBy) }
                return server.usual(arrival.request, fields: [.cacheControl: "max-age=600"])
            }
            _ = try await bench.succeed(try bench.request())
            try expect(
                names.value.allSatisfy { $0 != nil },
                "A request whose response is shared went on without saying so."
            )
        },
    ]
    /// Servers that resemble the one of a credential.
    private static let strangers = [
        ("https", "other.example"), ("http", "api.example.com"), ("https", "api.example.com:8443"),
        ("https", "evil-api.example.com"), ("https", "api.example.com.other.example"), ("https", "example.com"),
        ("https", "v2.api.example.com"),
    ]
}

extension InterceptorConformance.Bench {
    /// Whether the URL or a field of a request has the credential, in plain text or in Base64.
    fileprivate func showsSecret(_ request: HTTPRequest) -> Bool {
        let texts = [request.url.absoluteString] + request.headerFields.map(\.value)
        for text in texts {
            if text.contains(world.secret) { return true }
            let words = text.components(separatedBy: CharacterSet(charactersIn: " ,;="))
            for word in words {
                let padding = String(repeating: "=", count: (4 - word.count % 4) % 4)
                guard let bytes = Data(base64Encoded: word + padding) else { continue }
                if String(decoding: bytes, as: UTF8.self).contains(world.secret) { return true }
            }
        }
        return false
    }
}
