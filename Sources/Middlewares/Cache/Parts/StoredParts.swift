internal import InterceptorsCore

/// The stored parts of one representation (RFC 9111 §3.4): of one variant, with one length and one strong validator.
final class StoredParts: Sendable {
    struct Member: Sendable {
        let entry: CacheEntry
        let range: Range<Int64>
    }

    /// The maximum parts of a representation. A store keeps few entries for a key, and opens a file for each long one.
    static let limit = 8

    /// In the order of their first bytes.
    let members: [Member]
    /// The length of the representation.
    let total: Int64
    /// The validator that all members share; `nil` if the only member has no strong one, so that nothing can complete it.
    let validator: RangeValidator?

    init(_ members: [Member], total: Int64, validator: RangeValidator?) {
        self.members = members.sorted { $0.range.lowerBound < $1.range.lowerBound }
        self.total = total
        self.validator = validator
    }

    /// The bytes from the first missing one through the last; `nil` if none is missing.
    var missing: Range<Int64>? {
        var start: Int64 = 0
        for member in members where member.range.lowerBound <= start { start = max(start, member.range.upperBound) }
        guard start < total else { return nil }
        var end = total
        for member in members.sorted(by: { $0.range.upperBound > $1.range.upperBound })
        where member.range.upperBound >= end {
            end = min(end, member.range.lowerBound)
        }
        return start..<end
    }

    /// The member with the newest fields; among those of one second, the one that stays fresh for the shortest time.
    var newest: CacheEntry? {
        let rank = { (response: CachedResponse) in
            let mustAsk = response.needsValidation || response.facts.directives.noCache != .absent
            return (response.responseTime, mustAsk ? 1 : 0, -CachePolicy().lifetime(of: response))
        }
        return members.map(\.entry).max { rank($0.response) < rank($1.response) }
    }

    /// The members that together have a range, each with the bytes to read from it; `nil` if a byte is missing.
    func pieces(of range: Range<Int64>) -> [(entry: CacheEntry, bytes: Range<Int64>)]? {
        var pieces: [(entry: CacheEntry, bytes: Range<Int64>)] = []
        var position = range.lowerBound
        while position < range.upperBound {
            let candidates = members.filter { $0.range.contains(position) }
            guard let longest = candidates.max(by: { $0.range.upperBound < $1.range.upperBound }) else { return nil }
            let end = min(longest.range.upperBound, range.upperBound)
            let start = longest.range.lowerBound
            pieces.append((longest.entry, (position - start)..<(end - start)))
            position = end
        }
        return pieces
    }

    /// The members that another part makes superfluous: those within its range, and the shortest ones if there are too many.
    func replaced(by range: Range<Int64>) -> [CacheEntry.ID] {
        let isWithin = { (member: Member) in member.range.clamped(to: range) == member.range }
        let rest = members.filter { !isWithin($0) }.sorted { $0.range.length < $1.range.length }
        return (members.filter(isWithin) + rest.prefix(max(0, rest.count - Self.limit + 1))).map(\.entry.id)
    }
}

extension StoredParts {
    /// Reads a range. All members are opened before the body is returned, so that a removal can't break it off.
    func body(_ range: Range<Int64>) async throws -> HTTPBody {
        guard let pieces = pieces(of: range) else { throw CacheStoreError.gone }
        var bodies: [HTTPBody] = []
        do {
            for piece in pieces { bodies.append(try await piece.entry.body(piece.bytes)) }
        } catch {
            for body in bodies { body.discard() }
            throw error
        }
        return .joined(bodies, length: range.length)
    }
}

extension StoredParts {
    /// Replaces the parts among the entries of a key: by one entry for each representation, which reads from its parts.
    static func combining(_ entries: [CacheEntry]) -> [CacheEntry] {
        guard entries.contains(where: \.mayBePart) else { return entries }
        var rest: [CacheEntry] = []
        var groups: [(kind: Kind, members: [Member])] = []
        for entry in entries {
            guard entry.mayBePart, entry.response.status == 206 else {
                rest.append(entry)
                continue
            }
            // A store that isn't ours, or a changed file, may return anything.
            guard let place = entry.response.place, place.range.length == entry.length else { continue }
            let kind = Kind(entry.response, place.total)
            let member = Member(entry: entry, range: place.range)
            if let index = groups.firstIndex(where: { $0.kind.isShared(with: kind) }) {
                groups[index].members.append(member)
            } else {
                groups.append((kind, [member]))
            }
        }
        return rest
            + groups.compactMap {
                CacheEntry(StoredParts($0.members, total: $0.kind.total, validator: $0.kind.validator))
            }
    }

    /// The properties that parts of one representation have in common.
    private struct Kind {
        let total: Int64
        let validator: RangeValidator?
        let variant: HTTPFields
        let selectors: [HTTPField.Name]?

        init(_ part: CachedResponse, _ total: Int64) {
            let whole = part.whole(of: total)
            self.total = total
            validator = RangeValidator(of: whole.headerFields)
            variant = whole.selectingFields
            selectors = part.facts.selectors
        }

        /// Without a strong validator, two parts may be of two versions (RFC 9110 §15.3.7.3).
        func isShared(with other: Self) -> Bool {
            validator != nil && validator == other.validator && total == other.total && variant == other.variant
                && selectors == other.selectors
        }
    }
}
