internal import Foundation
internal import InterceptorsTransport

/// Describes how a request differs from the recorded ones, in words without secrets.
struct RequestDifference {
    /// The parts of a request that are compared, without secrets.
    struct Facts {
        let request: RecordedExchange.Request
        let url: RecordedURL

        init(_ request: RecordedExchange.Request, _ redaction: ExchangeRedaction) {
            self.request = redaction.redacted(request)
            url = RecordedURL(self.request.url)
        }
    }

    /// The number of recorded requests whose contents are parsed. A hint needn't be the best of all.
    private static let maxContents = 50

    private let matching: RequestMatching
    private let sent: Facts

    init(_ matching: RequestMatching, _ sent: Facts) {
        self.matching = matching
        self.sent = sent
    }

    /// One or two sentences that name the recorded request that was probably meant, and the difference; `nil` if none is
    /// similar.
    ///
    /// - Parameters:
    ///   - request: the request that has no answer.
    ///   - recorded: the recorded requests.
    ///   - matching: the parts that are compared.
    ///   - redaction: the redaction of the recording.
    static func sentence(
        _ request: RecordedExchange.Request,
        among recorded: [RecordedExchange.Request],
        _ matching: RequestMatching,
        _ redaction: ExchangeRedaction
    ) -> String? {
        let difference = RequestDifference(matching, Facts(request, redaction))
        let heads = RequestMatching(matching.parts.filter { !$0.isBody })
        let weights = recorded.map { request in
            var head = request
            head.body = Data()
            return RequestDifference(heads, difference.sent).weight(of: Facts(head, redaction))
        }
        guard let least = weights.min(), least < farthest else { return nil }
        let near = zip(recorded, weights).lazy.filter { $0.1 == least }.prefix(maxContents)
        let candidates = near.map { request, _ in
            let facts = Facts(request, redaction)
            return (facts, difference.differences(from: facts))
        }
        let nearest = candidates.min { Self.weight($0.1) < Self.weight($1.1) }
        guard let (facts, differences) = nearest, Self.weight(differences) < farthest else { return nil }
        let name = excerpt("\(facts.request.method) \(facts.request.url)", limit: 200)
        guard !differences.isEmpty else { return "\(name) was recorded, but all of its answers were played." }
        let shown = differences.prefix(2).map(\.text).joined(separator: ", and ")
        let rest = differences.count > 2 ? " There are \(differences.count - 2) more differences." : ""
        return "\(name) was recorded; \(shown).\(rest)"
    }

    // MARK: Comparison

    private typealias Difference = (text: String, weight: Int)

    // A request with another path and one more difference is another request.
    private static let farthest = 100

    private func weight(of recorded: Facts) -> Int { Self.weight(differences(from: recorded)) }

    private static func weight(_ differences: [Difference]) -> Int { differences.reduce(0) { $0 + $1.weight } }

    private func differences(from recorded: Facts) -> [Difference] {
        matching.parts.flatMap { part -> [Difference] in
            switch part.kind {
            case .method:
                guard recorded.request.method != sent.request.method else { return [] }
                return [("its method is \(recorded.request.method)", 30)]
            case .origin:
                let isSame =
                    recorded.url.scheme == sent.url.scheme && recorded.url.host == sent.url.host
                    && recorded.url.port == sent.url.port
                return isSame ? [] : [("its origin differs", 40)]
            case .path: return pathDifference(recorded).map { [$0] } ?? []
            case .query, .queryOnly:
                return itemDifferences(
                    recorded.url.items.filter(part.compares),
                    sent.url.items.filter(part.compares),
                    in: "query"
                )
            case .fields(let names): return names.compactMap { fieldDifference($0, recorded) }
            case .body: return bodyDifferences(BodyContent(recorded.request), BodyContent(sent.request))
            }
        }
    }

    private func pathDifference(_ recorded: Facts) -> Difference? {
        let (one, other) = (recorded.url.path, sent.url.path)
        guard one != other else { return nil }
        let segments = [one, other].map { $0.split(separator: UInt8(ascii: "/")) }
        let shared = zip(segments[0], segments[1]).count { $0 == $1 }
        let count = max(segments[0].count, segments[1].count, 1)
        // A path without a shared segment is far away, one of many with a single other segment is near.
        return ("its path differs", 20 + 80 * (count - shared) / count)
    }

    private func fieldDifference(_ name: HTTPField.Name, _ recorded: Facts) -> Difference? {
        let (one, other) = (
            recorded.request.headerFields.filter { $0.name == name }.map(\.comparedValue),
            sent.request.headerFields.filter { $0.name == name }.map(\.comparedValue)
        )
        if one == other { return nil }
        let texts = [one, other].map { $0.isEmpty ? nil : Self.quoted($0.joined(separator: ", ")) }
        let values = Self.values(texts[0], texts[1])
        return ("its field \(name) differs: \(values)", 5)
    }

    private func itemDifferences(
        _ recorded: [RecordedURL.Item],
        _ sent: [RecordedURL.Item],
        in part: String
    ) -> [Difference] {
        let names = (recorded + sent).map(\.name)
        let groups = [recorded, sent].map { Dictionary(grouping: $0, by: \.name).mapValues { $0.map(\.value) } }
        var seen: Set<[UInt8]> = []
        return names.filter { seen.insert($0).inserted }.compactMap { name in
            let (one, other) = (groups[0][name] ?? [], groups[1][name] ?? [])
            let isSame =
                one.sorted { $0.lexicographicallyPrecedes($1) } == other.sorted { $0.lexicographicallyPrecedes($1) }
            if isSame { return nil }
            let values = Self.values(Self.text(one), Self.text(other))
            return ("its \(part) differs at `\(Self.excerpt(name))`: \(values)", 5)
        }
    }

    private func bodyDifferences(_ recorded: BodyContent, _ sent: BodyContent) -> [Difference] {
        var (one, other) = (CanonicalBytes(), CanonicalBytes())
        recorded.append(to: &one)
        sent.append(to: &other)
        if one.bytes == other.bytes { return [] }
        switch (recorded, sent) {
        case (.json(let recorded), .json(let sent)):
            guard let found = JSONDifference.first(recorded, sent) else { return [] }
            let place = found.path.isEmpty ? "" : " at `\(Self.excerpt(found.path))`"
            return [("its body differs\(place): \(Self.values(found.recorded, found.sent))", 5)]
        case (.form(let recorded), .form(let sent)): return itemDifferences(recorded, sent, in: "form")
        case (.parts(let recorded), .parts(let sent)): return [partDifference(recorded, sent)]
        case (.bytes(let recorded), .bytes(let sent)):
            if recorded.isEmpty { return [("its body is empty", 10)] }
            if sent.isEmpty { return [("it has a body, and this request has none", 10)] }
            let same = zip(recorded, sent).prefix { $0 == $1 }.count
            return [("its body differs from byte \(same) on", 10)]
        default: return [("its body is of another kind", 12)]
        }
    }

    private func partDifference(_ recorded: [BodyContent.Part], _ sent: [BodyContent.Part]) -> Difference {
        for (one, other) in zip(BodyContent.ordered(recorded), BodyContent.ordered(sent)) {
            if one.head != other.head {
                let name = Self.excerpt(one.name)
                return ("the head of its part `\(name)` differs", 5)
            }
            if let inner = bodyDifferences(one.content, other.content).first {
                return ("in its part `\(Self.excerpt(one.name))`, \(inner.text)", 5)
            }
        }
        return ("it has \(recorded.count) parts, and this request has \(sent.count)", 5)
    }

    // MARK: Words

    private static func text(_ values: [[UInt8]]) -> String? {
        values.isEmpty ? nil : quoted(values.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ", "))
    }

    private static func values(_ recorded: String?, _ sent: String?) -> String {
        let recorded = recorded.map { "recorded \($0)" } ?? "not recorded"
        return recorded + ", " + (sent.map { "sent \($0)" } ?? "not sent")
    }

    static func quoted(_ text: String) -> String { "\"\(excerpt(text))\"" }

    private static func excerpt(_ bytes: [UInt8]) -> String { excerpt(String(decoding: bytes, as: UTF8.self)) }

    /// The beginning of a text that holds no secrets, on one line.
    private static func excerpt(_ text: String, limit: Int = 60) -> String {
        PrintableText.line(text.count > limit ? text.prefix(limit) + "…" : text)
    }
}
