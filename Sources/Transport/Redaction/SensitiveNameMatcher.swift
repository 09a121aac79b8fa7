internal import InterceptorsSyntax

/// Decides whether a name is sensitive, by whole names, parts of names and endings. Prepared so that look-ups don't allocate.
struct SensitiveNameMatcher: Sendable {
    private let parts: WordTable
    private let wholes: WordTable
    private let endings: WordTable
    private let suffixes: WordTable
    private let removed: WordTable

    init(_ words: SensitiveWords) {
        parts = WordTable(words.parts.map(Self.folded))
        wholes = WordTable(words.wholes.map(Self.folded))
        endings = WordTable(words.endings.map(Self.folded))
        suffixes = WordTable(words.suffixes.map(Self.folded))
        removed = WordTable(words.removed.map(Self.folded))
    }

    func contains(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        guard !name.isEmpty else { return false }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: name.count) { folded in
            var count = 0
            var component = 0
            // The index of the last word, after a hyphen or underscore.
            var last = 0
            for byte in name {
                let lowercase = byte | 0x20
                let isLetter = lowercase &- 0x61 < 26
                if isLetter || byte &- 0x30 < 10 || byte >= 0x80 {
                    let letter = isLetter ? lowercase : byte
                    folded.initializeElement(at: count, to: letter)
                    count &+= 1
                } else if Self.isDivider(byte) {
                    // In `user[pin]` and `user.pin`, `pin` counts as a whole name.
                    if isWhole(UnsafeBufferPointer(rebasing: folded[component..<count])) { return true }
                    component = count
                    last = count
                } else {
                    last = count
                }
            }
            let whole = UnsafeBufferPointer(rebasing: folded[..<count])
            if removed.hasWord(at: 0, of: whole, toItsEnd: true) { return false }
            if component > 0, isWhole(UnsafeBufferPointer(rebasing: folded[component..<count])) { return true }
            if last > component, endings.hasWord(at: last, of: whole, toItsEnd: true) { return true }
            // In `X-Session`, `session` counts as a whole name.
            if Self.hasPrefixX(name), wholes.hasWord(at: 1, of: whole, toItsEnd: true) { return true }
            return isWhole(whole) || hasPart(whole)
        }
    }

    @inline(__always)
    private static func hasPrefixX(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        name.count > 2 && name[0] | 0x20 == UInt8(ascii: "x")
            && (name[1] == UInt8(ascii: "-") || name[1] == UInt8(ascii: "_"))
    }

    private func hasPart(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        name.indices.contains {
            parts.hasWord(at: $0, of: name, toItsEnd: false) || suffixes.hasWord(at: $0, of: name, toItsEnd: true)
        }
    }

    private func isWhole(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        wholes.hasWord(at: 0, of: name, toItsEnd: true) && !removed.hasWord(at: 0, of: name, toItsEnd: true)
    }

    static func folded(_ name: String) -> [UInt8] {
        name.utf8.filter { isKept($0) }.map { ASCII.lowercased($0) }
    }

    @inline(__always)
    private static func isKept(_ byte: UInt8) -> Bool { byte >= 0x80 || ASCII.isAlphanumeric(byte) }

    @inline(__always)
    private static func isDivider(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "."), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "/"), UInt8(ascii: ":"): true
        default: false
        }
    }
}

/// Words in one byte array, each after its length, grouped by first letter.
private struct WordTable: Sendable {
    private let bytes: [UInt8]
    // The start of each group, and the end of the last. Bytes that aren't letters share the letters' groups.
    private let groups: [Int]

    init(_ words: [[UInt8]]) {
        var bytes: [UInt8] = []
        var groups = [0]
        for group in 0..<32 {
            for word in words where word.first.map({ Int($0 & 31) == group }) ?? false {
                // A longer word is truncated, which matches more, never less.
                bytes.append(UInt8(clamping: word.count))
                bytes += word.prefix(255)
            }
            groups.append(bytes.count)
        }
        self.bytes = bytes
        self.groups = groups
    }

    /// Whether a word begins at an index of a name and, if `toItsEnd`, also ends where the name ends.
    func hasWord(at start: Int, of name: UnsafeBufferPointer<UInt8>, toItsEnd: Bool) -> Bool {
        guard start < name.count else { return false }
        let group = Int(name[start] & 31)
        var position = groups[group]
        let end = groups[group + 1]
        guard position < end else { return false }
        let room = name.count - start
        return bytes.withUnsafeBufferPointer { bytes in
            while position < end {
                let length = Int(bytes[position])
                if toItsEnd ? length == room : length <= room {
                    var matching = 0
                    while matching < length, bytes[position + 1 + matching] == name[start + matching] { matching += 1 }
                    if matching == length { return true }
                }
                position += 1 + length
            }
            return false
        }
    }
}
