/// Names and parts of names, prepared so that a name is looked up without allocating: it is done for every field of
/// every logged message.
struct SensitiveNames: Sendable {
    private let parts: WordTable
    private let wholes: WordTable
    private let wholeNames: [String]

    init(parts: [String], wholes: [String]) {
        self.init(parts: WordTable(parts.map(Self.folded)), wholeNames: wholes)
    }

    private init(parts: WordTable, wholeNames: [String]) {
        self.parts = parts
        self.wholeNames = wholeNames
        wholes = WordTable(wholeNames.map(Self.folded))
    }

    func adding(wholes more: [String]) -> Self { Self(parts: parts, wholeNames: wholeNames + more) }

    func contains(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: name.count) { folded in
            var count = 0
            for byte in name where !Self.isSeparator(byte) {
                folded.initializeElement(at: count, to: ASCII.lowercased(byte))
                count += 1
            }
            let whole = UnsafeBufferPointer(rebasing: folded[..<count])
            if contains(folded: whole) { return true }
            guard whole.contains(UInt8(ascii: "[")) else { return false }
            return whole.split { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "]") }
                .contains { contains(folded: UnsafeBufferPointer(rebasing: $0)) }
        }
    }

    private func contains(folded name: UnsafeBufferPointer<UInt8>) -> Bool {
        if wholes.hasWord(at: 0, of: name, toItsEnd: true) { return true }
        return name.indices.contains { parts.hasWord(at: $0, of: name, toItsEnd: false) }
    }

    private static func folded(_ name: String) -> [UInt8] {
        name.utf8.filter { !isSeparator($0) }.map { ASCII.lowercased($0) }
    }

    private static func isSeparator(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
    }
}

/// Words in a row of bytes, each after its length, grouped by the letter that they begin with.
private struct WordTable: Sendable {
    private let bytes: [UInt8]
    // Where a group begins, and at the end where the last one ends. What is no letter shares the groups of letters.
    private let groups: [Int]

    init(_ words: [[UInt8]]) {
        var bytes: [UInt8] = []
        var groups = [0]
        for group in 0..<32 {
            for word in words where word.first.map({ Int($0 & 31) == group }) ?? false {
                // A longer word is cut: that finds more, not less.
                bytes.append(UInt8(clamping: word.count))
                bytes += word.prefix(255)
            }
            groups.append(bytes.count)
        }
        self.bytes = bytes
        self.groups = groups
    }

    /// Whether one of the words stands at a place of a name; and, if asked, nothing after it.
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
