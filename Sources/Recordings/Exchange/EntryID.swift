internal import InterceptorsArchives

/// The identity of an entry: a series of equal requests, and a position in it.
///
/// The entry keeps its identity when entries before it come or go. Recordings that share a file know by it which line belongs to
/// which entry, even if they compare requests differently.
struct EntryID: Hashable, Sendable {
    /// Names the equal requests, and the comparison under which they are equal.
    let series: String
    /// Grows with the entries of a series, from 1, with gaps.
    let position: Int

    /// The value of the member `_id` of an entry.
    var text: String { "\(series)-\(position)" }

    init(series: String, position: Int) {
        self.series = series
        self.position = position
    }

    func isLater(than other: EntryID) -> Bool { series == other.series && position > other.position }

    /// Reads the text of an identity; `nil` for any other text.
    init?(_ text: String) {
        guard let hyphen = text.lastIndex(of: "-"), let position = Int(text[text.index(after: hyphen)...]), position > 0
        else { return nil }
        self.init(series: String(text[..<hyphen]), position: position)
        guard self.text == text else { return nil }
    }
}

extension RecordedExchange {
    /// The identities of entries, given to those that have none: entries of other programs, and copies that a person has made.
    ///
    /// The same entries always get the same identities, so processes that read one file agree.
    static func identified(_ entries: [RecordedExchange]) -> [RecordedExchange] {
        var taken: Set<EntryID> = []
        var result = entries
        for index in result.indices {
            guard let id = result[index].id, !taken.insert(id).inserted else { continue }
            result[index].id = nil
        }
        var last: [String: Int] = [:]
        for index in result.indices where result[index].id == nil {
            let series = HARDate.text(result[index].startedAt)
            var id: EntryID
            repeat {
                last[series, default: 0] += 1
                id = EntryID(series: series, position: last[series, default: 1])
            } while !taken.insert(id).inserted
            result[index].id = id
        }
        return result
    }
}
