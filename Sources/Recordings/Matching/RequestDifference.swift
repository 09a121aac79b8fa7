internal import Foundation
internal import InterceptorsArchives
internal import InterceptorsTransport

/// Describes how a request differs from the recorded ones, in words without secrets.
enum RequestDifference {
    private typealias Difference = (text: String, weight: Int)

    /// The number of recorded requests whose contents are parsed. A hint needn't be the best of all.
    private static let maxContents = 50
    // A request with another path and one more difference is another request.
    private static let farthest = 100

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
        // First without the contents, because parsing them takes long.
        let heads = matching.parts.filter { if case .body = $0.kind { false } else { true } }
        func head(_ request: RecordedExchange.Request) -> [[RequestFact]] {
            var head = request
            head.body = Data()
            return RequestFact.all(in: redaction.redacted(head), heads)
        }
        let sentHead = head(request)
        let weights = recorded.map { weight(differences(head($0), sentHead)) }
        guard let least = weights.min(), least < farthest else { return nil }
        let sent = RequestFact.all(in: redaction.redacted(request), matching.parts)
        let near = zip(recorded, weights).lazy.filter { $0.1 == least }.prefix(maxContents)
        let candidates = near.map { request, _ in
            let redacted = redaction.redacted(request)
            return (redacted, differences(RequestFact.all(in: redacted, matching.parts), sent))
        }
        let nearest = candidates.min { weight($0.1) < weight($1.1) }
        guard let (found, differences) = nearest, weight(differences) < farthest else { return nil }
        let name = RequestFact.excerpt("\(found.method) \(found.url)", limit: 200)
        guard !differences.isEmpty else { return "\(name) was recorded; its body is arranged in another way." }
        let shown = differences.prefix(2).map(\.text).joined(separator: ", and ")
        let rest = differences.count > 2 ? " There are \(differences.count - 2) more differences." : ""
        return "\(name) was recorded; \(shown).\(rest)"
    }

    private static func weight(_ differences: [Difference]) -> Int { differences.reduce(0) { $0 + $1.weight } }

    /// The differences in the order of the compared parts. Of a body, only the first one: one at a place in it, if there is one.
    private static func differences(_ recorded: [[RequestFact]], _ sent: [[RequestFact]]) -> [Difference] {
        zip(recorded, sent).flatMap { recorded, sent in
            let groups = [recorded, sent].map { Dictionary(grouping: $0, by: \.place) }
            var seen: Set<RequestFact.Place> = []
            let places = (recorded + sent).map(\.place).filter { seen.insert($0).inserted }
            let differences = (places.filter { !$0.path.isEmpty } + places.filter(\.path.isEmpty)).compactMap { place in
                difference(groups[0][place] ?? [], groups[1][place] ?? [], at: place)
            }
            guard places.first?.part == RequestFact.body, let first = differences.first else { return differences }
            return [(first.text, min(weight(differences), farthest / 4))]
        }
    }

    private static func difference(
        _ recorded: [RequestFact],
        _ sent: [RequestFact],
        at place: RequestFact.Place
    ) -> Difference? {
        let values = [recorded, sent].map { $0.map(\.value).sorted { $0.lexicographicallyPrecedes($1) } }
        guard values[0] != values[1] else { return nil }
        let texts = [recorded, sent].map { $0.map(\.text).joined(separator: ", ") }
        let before = recorded.isEmpty ? "not recorded" : "recorded \(texts[0])"
        let after = sent.isEmpty ? "not sent" : "sent \(texts[1])"
        let path = place.path.isEmpty ? "" : " at `\(RequestFact.excerpt(String(decoding: place.path, as: UTF8.self)))`"
        return ("its \(place.part) differs\(path): \(before), \(after)", weight(of: place, recorded, sent))
    }

    private static func weight(of place: RequestFact.Place, _ recorded: [RequestFact], _ sent: [RequestFact]) -> Int {
        switch place.part {
        case "method": return 30
        case "origin": return 40
        case "path":
            // A path without a shared segment is far away, one of many with a single other segment is near.
            let segments = [recorded, sent].map { ($0.first?.value ?? []).split(separator: UInt8(ascii: "/")) }
            let shared = zip(segments[0], segments[1]).count { $0 == $1 }
            let count = max(segments[0].count, segments[1].count, 1)
            return 20 + 80 * (count - shared) / count
        default: return 5
        }
    }
}
