internal import Foundation
internal import InterceptorsArchives

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
        let heads = RequestMatching(parts: matching.parts.filter { if case .body = $0 { false } else { true } })
        func head(_ request: RecordedExchange.Request) -> [ComparedPart] {
            var head = request
            head.body = Data()
            return heads.compared(redaction.redacted(head))
        }
        let sentHead = head(request)
        let weights = recorded.map { weight(differences(head($0), sentHead)) }
        guard let least = weights.min(), least < farthest else { return nil }
        let sent = matching.compared(redaction.redacted(request))
        let near = zip(recorded, weights).lazy.filter { $0.1 == least }.prefix(maxContents)
        let candidates = near.map { request, _ in
            let redacted = redaction.redacted(request)
            return (redacted, differences(matching.compared(redacted), sent))
        }
        let nearest = candidates.min { weight($0.1) < weight($1.1) }
        guard let (found, differences) = nearest, weight(differences) < farthest else { return nil }
        let name = excerpt("\(found.method) \(found.url)", limit: 200)
        guard !differences.isEmpty else { return "\(name) was recorded; its body is arranged in another way." }
        let shown = differences.prefix(2).map(\.text).joined(separator: ", and ")
        let rest = differences.count > 2 ? " There are \(differences.count - 2) more differences." : ""
        return "\(name) was recorded; \(shown).\(rest)"
    }

    private static func weight(_ differences: [Difference]) -> Int { differences.reduce(0) { $0 + $1.weight } }

    /// The differences in the order of the compared parts. Of a body, only the first one: one at a path in it, if there is one.
    private static func differences(_ recorded: [ComparedPart], _ sent: [ComparedPart]) -> [Difference] {
        zip(recorded, sent).flatMap { recorded, sent in
            let (old, new) = (recorded.value?.leaves() ?? [], sent.value?.leaves() ?? [])
            let groups = [old, new].map { Dictionary(grouping: $0) { $0.path }.mapValues { $0.map { $0.value } } }
            var seen: Set<[UInt8]> = []
            let paths = (old + new).map { $0.path }.filter { seen.insert($0).inserted }
            let differences = (paths.filter { !$0.isEmpty } + paths.filter(\.isEmpty)).compactMap { path in
                difference(groups[0][path] ?? [], groups[1][path] ?? [], of: recorded.name, at: path)
            }
            guard recorded.name == ComparedPart.body, let first = differences.first else { return differences }
            return [(first.text, min(weight(differences), farthest / 4))]
        }
    }

    private static func difference(
        _ recorded: [OrderedJSON],
        _ sent: [OrderedJSON],
        of part: String,
        at path: [UInt8]
    ) -> Difference? {
        let values = [recorded, sent].map { values in
            values.map { Array($0.canonical.data()) }.sorted { $0.lexicographicallyPrecedes($1) }
        }
        guard values[0] != values[1] else { return nil }
        let texts = [recorded, sent].map { $0.map { excerpt($0.data()) }.joined(separator: ", ") }
        let before = recorded.isEmpty ? "not recorded" : "recorded \(texts[0])"
        let after = sent.isEmpty ? "not sent" : "sent \(texts[1])"
        let place = path.isEmpty ? "" : " at `\(excerpt(path))`"
        return ("its \(part) differs\(place): \(before), \(after)", weight(of: part, recorded, sent))
    }

    private static func weight(of part: String, _ recorded: [OrderedJSON], _ sent: [OrderedJSON]) -> Int {
        switch part {
        case "method": return 30
        case "origin": return 40
        case "path":
            // A path without a shared segment is far away, one of many with a single other segment is near.
            let segments = [recorded, sent].map { ($0.first?.string ?? "").utf8.split(separator: UInt8(ascii: "/")) }
            let shared = zip(segments[0], segments[1]).count { $0.elementsEqual($1) }
            let count = max(segments[0].count, segments[1].count, 1)
            return 20 + 80 * (count - shared) / count
        default: return 5
        }
    }

    private static func excerpt(_ text: some Sequence<UInt8>) -> String {
        excerpt(String(decoding: Array(text), as: UTF8.self), limit: 60)
    }

    /// The beginning of a text that holds no secrets, on one line.
    private static func excerpt(_ text: String, limit: Int) -> String {
        PrintableText.line(text.count > limit ? text.prefix(limit) + "…" : text)
    }
}

extension OrderedJSON {
    /// A value that holds no others, and its path, such as `items[2].name`.
    ///
    /// The path is bytes: Swift takes strings with combined and with separate accents for equal.
    typealias Leaf = (path: [UInt8], value: OrderedJSON)

    func leaves(at path: String = "") -> [Leaf] {
        switch self {
        case .object(let members) where !members.isEmpty:
            members.flatMap { $0.value.leaves(at: Self.path($0.name, in: path)) }
        case .array(let elements) where !elements.isEmpty:
            elements.enumerated().flatMap { $1.leaves(at: "\(path)[\($0)]") }
        default: [(Array(path.utf8), self)]
        }
    }

    /// The path of a member. Limited, because each value within has it: otherwise paths would take the square of a content's size.
    private static func path(_ name: String, in path: String) -> String {
        if name.isEmpty { return path }
        return String(decoding: (path.isEmpty ? name : "\(path).\(name)").utf8.prefix(300), as: UTF8.self)
    }
}
