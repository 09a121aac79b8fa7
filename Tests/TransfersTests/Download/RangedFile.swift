import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransfers

/// A server's answers for one file, honest or not.
struct RangedFile: Sendable {
    /// The server's mistake.
    enum Lie: String, CaseIterable, Sendable {
        case nothing
        // Allowed, but no help.
        case ignoresRanges, weakTag, sendsLessThanAsked
        // Wrong, and the head shows it.
        case startsElsewhere, namesAnotherTotal, confirmsNothing, confirmsAnotherVersion, sendsNoContentRange,
            sendsManyParts
        case refusesRanges, codesRanges
        // Wrong, and only the content shows it.
        case sendsMoreThanPromised, keepsItsTag

        /// Whether a client can't notice the lie without a digest.
        var needsDigest: Bool { self == .keepsItsTag }
    }

    var lie = Lie.nothing
    /// The content by the number of requests before: a changing file has more than one.
    var versions: [Data]
    /// The entity tag, whatever the version.
    var fixedTag: String?

    init(_ versions: Data..., lie: Lie = .nothing) {
        self.versions = versions
        self.lie = lie
    }

    func content(_ number: Int) -> Data { versions[min(number, versions.count - 1)] }

    func tag(_ number: Int) -> String {
        if let fixedTag { return fixedTag }
        if lie == .weakTag { return "W/\"1\"" }
        return lie == .keepsItsTag ? "\"1\"" : "\"\(min(number, versions.count - 1))\""
    }

    /// The response to a request.
    ///
    /// - Parameter number: the number of requests before.
    func answer(_ request: HTTPFields, number: Int) -> (status: HTTPResponse.Status, fields: HTTPFields, body: Data) {
        let content = content(number)
        var fields: HTTPFields = [.eTag: tag(number), .acceptRanges: "bytes"]
        let isCurrent = request[.ifRange] == nil || request[.ifRange] == tag(number)
        guard let range = request[.range].flatMap(Self.range), isCurrent || lie == .confirmsAnotherVersion,
            lie != .ignoresRanges
        else {
            fields[.contentLength] = "\(content.count)"
            return (200, fields, content)
        }
        guard range.lowerBound < content.count, lie != .refusesRanges else {
            return (416, [.contentRange: "bytes */\(content.count)"], Data())
        }
        return partial(content, range.clamped(to: 0..<content.count), fields)
    }

    static func range(_ text: String) -> Range<Int>? {
        guard let match = text.wholeMatch(of: /bytes=(\d+)-(\d*)/), let first = Int(match.1) else { return nil }
        return first..<(Int(match.2).map { $0 + 1 } ?? .max)
    }

    private func partial(
        _ content: Data,
        _ range: Range<Int>,
        _ fields: HTTPFields
    ) -> (status: HTTPResponse.Status, fields: HTTPFields, body: Data) {
        var (fields, total, first) = (fields, content.count, range.lowerBound)
        var body = Data(content[range])
        switch lie {
        case .sendsLessThanAsked: body = body.prefix(max(1, body.count / 2))
        case .startsElsewhere:
            first = max(0, range.lowerBound - 1)
            body = Data(content[first..<range.upperBound])
        case .namesAnotherTotal: total += 1
        case .confirmsNothing: fields[.eTag] = nil
        case .confirmsAnotherVersion: fields[.eTag] = "\"another\""
        case .codesRanges: fields[.contentEncoding] = "gzip"
        default: break
        }
        fields[.contentRange] = "bytes \(first)-\(first + body.count - 1)/\(total)"
        fields[.contentLength] = "\(body.count)"
        switch lie {
        case .sendsNoContentRange: fields[.contentRange] = nil
        case .sendsManyParts:
            fields[.contentRange] = nil
            fields[.contentType] = "multipart/byteranges; boundary=x"
        case .sendsMoreThanPromised:
            fields[.contentLength] = nil
            body += body
        default: break
        }
        return (206, fields, body)
    }
}

extension RangedFile {
    /// The whole response to a request.
    ///
    /// - Parameter number: the number of requests before.
    func response(to request: HTTPRequest, number: Int) -> HTTPResponse {
        let (status, fields, body) = answer(request.headers, number: number)
        return HTTPResponse(status: status, headers: fields, body: .oneShot(Pieces(bytes: body, failure: nil)))
    }

    /// A stub that answers with this file. Response `n` breaks off after `cuts[n]` bytes.
    func stub(cuts: [Int] = []) -> StubTransport {
        let requests = Tally()
        return StubTransport { request in
            let number = requests.count() - 1
            let (status, fields, body) = answer(request.headers, number: number)
            let cut = number < cuts.count ? cuts[number] : .max
            let failure = cut < body.count ? TransportError(.truncated, "The connection was cut.") : nil
            let chunks = Pieces(bytes: body.prefix(cut), failure: failure)
            return HTTPResponse(status: status, headers: fields, body: .oneShot(chunks))
        }
    }

    /// Serves the file at `/file`. Response `n` breaks off after `cuts[n]` bytes.
    func serve(on server: MockServer, cuts: [Int] = []) {
        let requests = Tally()
        server.on(.get, "/file") { request in
            let number = requests.count() - 1
            let (status, fields, body) = answer(request.headers, number: number)
            guard number < cuts.count, cuts[number] < body.count else {
                return .status(status, headers: fields, body: body)
            }
            let head =
                "HTTP/1.1 \(status.code) Cut\r\n" + fields.map { "\($0.name): \($0.value)\r\n" }.joined() + "\r\n"
            return StubAnswer(steps: [.send(head), .send(body.prefix(cuts[number])), .close])
        }
    }
}

/// Bytes in pieces of seven, and then the end or an error.
struct Pieces: AsyncSequence, Sendable {
    let bytes: Data
    let failure: TransportError?

    struct Iterator: AsyncIteratorProtocol {
        var rest: Data
        let failure: TransportError?

        mutating func next() async throws -> Data? {
            guard rest.isEmpty else {
                defer { rest = Data(rest.dropFirst(7)) }
                return rest.prefix(7)
            }
            if let failure { throw failure }
            return nil
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(rest: bytes, failure: failure) }
}
