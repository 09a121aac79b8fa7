internal import InterceptorsSyntax

/// Tells the names of members that programmers choose from keys of dictionaries, which may be secrets.
///
/// ```text
/// cached_tokens, accessKeyId, Expiration, userID, line2     words
/// ABCD-EFGH, qWmZkTbYxLpRvNcH, xkqzvbnm, a1B2c3D4           keys
/// ```
enum WordShape {
    private static let longestName = 32
    private static let longestWord = 14
    /// Three letters hold too little to be a secret, so that abbreviations count as words.
    private static let longestAbbreviation = 3

    /// Whether a name consists of words in letters of ASCII, joined by underscores or in camel case. A single digit may follow.
    static func isName(_ name: ArraySlice<UInt8>) -> Bool {
        var letters = name.drop { $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "$") }
        guard name.count <= longestName else { return false }
        if let last = letters.last, ASCII.isDigit(last), letters.count > longestAbbreviation { letters.removeLast() }
        // An acronym at the end, as in `userID` and `avatarURL`.
        let capitals = letters.reversed().prefix(while: isCapital).count
        if 2...3 ~= capitals, letters.dropLast(capitals).last.map(isSmall) ?? false { letters.removeLast(capitals) }
        let words = words(letters)
        // Words of a few letters, in a name of many words, are chance.
        return !words.isEmpty && words.count <= 1 + letters.count / 4 && words.allSatisfy(isWord)
    }

    /// The parts between underscores, each split before its capitals.
    private static func words(_ name: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        var words: [ArraySlice<UInt8>] = []
        for part in name.split(separator: UInt8(ascii: "_"), omittingEmptySubsequences: false) {
            var start = part.startIndex
            for index in part.indices.dropFirst() where isCapital(part[index]) {
                words.append(part[start..<index])
                start = index
            }
            words.append(part[start...])
        }
        return words
    }

    private static func isWord(_ word: ArraySlice<UInt8>) -> Bool {
        guard let first = word.first, word.count <= longestWord, isSmall(first) || isCapital(first),
            word.dropFirst().allSatisfy(isSmall)
        else { return false }
        guard word.count > longestAbbreviation else { return true }
        return zip(word, word.dropFirst()).allSatisfy { letter, next in
            followers[Int(letter & 31)] & (1 << UInt32(next & 31)) != 0
        }
    }

    private static func isSmall(_ byte: UInt8) -> Bool { 0x61...0x7A ~= byte }
    private static func isCapital(_ byte: UInt8) -> Bool { 0x41...0x5A ~= byte }

    /// For each letter, the letters that often follow it in the words of programs. One in fifty random texts of eight letters
    /// consists of such pairs alone.
    private static let followers: [UInt32] = {
        let usual = [
            "bcdfgijklmnprstuvwxy", "abcdehijlnoprstuy", "acehiklorstuy", "abdefgilmnoprstuvy",
            "abcdefghijklmnopqrstuvwxyz",
            "aefilorstuy", "aeghilmnorstu", "aeilmorstu", "abcdefgklmnopqrstvxz", "eosu", "aegilnstu",
            "abcdefgilnoprstuvwy", "abeilmnopsu", "abcdefghiklmnoprstuvwy", "abcdfgijklmnoprstuvwx", "adehiloprstuy",
            "u", "abcdefgiklmnoprstuvwy", "acdefhiklmnopstuwy", "acdefhilmnoprstuwy", "abcdefgilmnoprst", "aeio",
            "aehinors", "aceipty", "ceilmnoprstw", "aeio",
        ]
        return [0] + usual.map { $0.utf8.reduce(0) { $0 | 1 << UInt32($1 & 31) } }
    }()
}
