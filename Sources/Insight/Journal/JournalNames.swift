internal import Interceptors
internal import Synchronization

/// Short texts that occur in many calls, such as the names of fields, each kept once.
///
/// The table has a limit, and a text beyond it is written out each time. A server chooses the names of a response's fields, so
/// they get only half of the table.
final class JournalNames: Sendable {
    private static let maxCount = 1_024
    private static let maxLength = 64

    private struct Table {
        var numbers: [String: Int] = [:]
        var texts: [String] = []
    }

    private let table = Mutex(Table())

    /// The number of a text, from 1; 0 if the text isn't in the table and doesn't fit.
    ///
    /// - Parameter isForeign: whether a server chose the text.
    func number(of text: String, isForeign: Bool = false) -> Int {
        guard text.utf8.count <= Self.maxLength else { return 0 }
        return table.withLock { table in
            if let number = table.numbers[text] { return number }
            guard table.texts.count < (isForeign ? Self.maxCount / 2 : Self.maxCount) else { return 0 }
            table.texts.append(text)
            table.numbers[text] = table.texts.count
            return table.texts.count
        }
    }

    /// All texts; the one with number n has index n - 1.
    var texts: [String] { table.withLock(\.texts) }
}

extension JournalBytes {
    /// Appends the number of a text, or the text itself if the table has no room.
    mutating func append(name: String, in names: JournalNames, isForeign: Bool = false) {
        let number = names.number(of: name, isForeign: isForeign)
        append(number: number)
        if number == 0 { append(text: name) }
    }
}

extension JournalReader {
    mutating func name(in names: [String]) -> String {
        let number = int()
        guard number > 0 else { return text() }
        return number <= names.count ? names[number - 1] : ""
    }
}
