public import Foundation

/// Encodes a value as an ``HTTPQuery``, for URLs and forms.
///
/// ```swift
/// struct Search: Encodable {
///     let term: String
///     let tags: [String]
///     let range: Range
///     struct Range: Encodable { let from: Int, to: Int? }
/// }
///
/// let search = Search(term: "rock", tags: ["a", "b"], range: .init(from: 1, to: nil))
/// let query = try HTTPQueryEncoder().encode(search)        // term=rock&tags=a&tags=b&range[from]=1
/// try await api.post("/search", body: .form(query))
/// ```
/// The order of items is the order in which the value encodes them; the names of a dictionary are sorted. The elements of an
/// array of objects are numbered in every format, `people[0][name]=Ada`, because their members can't be told apart otherwise.
public struct HTTPQueryEncoder: Sendable {
    /// The way a date is written.
    public struct DateFormat: Sendable {
        let text: @Sendable (Date) -> String

        /// `2026-11-22T16:30:00Z` (ISO 8601, in UTC, without fractions): the default.
        public static let iso8601 = Self { $0.ISO8601Format() }
        /// Seconds since 1970, with fractions if there are any.
        public static let secondsSince1970 = Self { number($0.timeIntervalSince1970) }
        /// Milliseconds since 1970, rounded down.
        public static let millisecondsSince1970 = Self { number(($0.timeIntervalSince1970 * 1000).rounded(.down)) }
        /// Dates as text from a closure.
        public static func custom(_ text: @escaping @Sendable (Date) -> String) -> Self { Self(text: text) }

        private static func number(_ value: Double) -> String { Int64(exactly: value).map(String.init) ?? "\(value)" }
    }

    /// The way names are written. The names of a dictionary are data and stay as they are.
    public struct KeyFormat: Sendable {
        let name: @Sendable (String) -> String

        /// As the value's coding keys spell them: the default.
        public static let unchanged = Self { $0 }
        /// `firstName` as `first_name`.
        public static let snakeCase = Self { separated($0, by: "_") }
        /// `firstName` as `first-name`.
        public static let kebabCase = Self { separated($0, by: "-") }
        /// Names changed by a closure.
        public static func custom(_ name: @escaping @Sendable (String) -> String) -> Self { Self(name: name) }

        /// Splits before an upper-case letter that follows a lower-case letter or digit, and before the last of several:
        /// `pageURLText` has the words `page`, `url` and `text`.
        private static func separated(_ name: String, by separator: Character) -> String {
            let letters = Array(name)
            var result = ""
            for (index, letter) in letters.enumerated() {
                let isStart =
                    letter.isUppercase && index > 0
                    && (!letters[index - 1].isUppercase || index + 1 < letters.count && letters[index + 1].isLowercase)
                if isStart, result.last != separator, letters[index - 1] != "_" { result.append(separator) }
                result += letter.lowercased()
            }
            return result
        }
    }

    /// The way arrays of texts, numbers and dates are written.
    public var arrays = HTTPQuery.ArrayFormat.repeated
    /// Whether a space is written as `+`, as HTML forms write it; by default as `%20`.
    public var spacesAsPlus = false
    /// The way dates are written.
    public var dates = DateFormat.iso8601
    /// Whether `true` and `false` are written as `1` and `0`; by default as words.
    public var boolsAsNumbers = false
    /// The text of an encoded `nil`, such as `null`, or the empty text for `name=`. By default `nil`: nothing is written. Members
    /// that a synthesized conformance leaves out are never written.
    public var nilText: String?
    /// Whether the names of nested members are joined by dots, as in `range.from=1`; by default `range[from]=1`.
    public var nestsWithDots = false
    /// The way names are written.
    public var keys = KeyFormat.unchanged

    /// Creates an encoder with the default formats.
    public init() {}

    /// Encodes a value that has named members, such as a struct or a dictionary.
    ///
    /// `Data` is written as base64. A number isn't formatted for a locale.
    /// - Throws: `EncodingError.invalidValue` if the value has no named members, and the value's own errors.
    public func encode(_ value: some Encodable) throws -> HTTPQuery {
        let texts = QueryTexts(self)
        try QueryValueEncoder(texts: texts, path: [], codingPath: []).encode(any: value)
        guard texts.all.allSatisfy({ $0.path.first?.isMember ?? false }) else {
            let problem = "A query consists of names and values, and the value has no names."
            throw EncodingError.invalidValue(value, .init(codingPath: [], debugDescription: problem))
        }
        var query = HTTPQuery(arrays: arrays, spacesAsPlus: spacesAsPlus)
        var rest = texts.all[...]
        while let (path, text) = rest.first {
            let array = path.dropLast()
            let siblings = path.last == .element(0) ? rest.prefix { $0.path.starts(with: array) } : []
            if !siblings.isEmpty, siblings.allSatisfy({ $0.path.count == path.count }) {
                query.append(name(of: array), siblings.compactMap { $0.text ?? nilText })
                rest.removeFirst(siblings.count)
            } else {
                query.append(name(of: path[...]), text ?? nilText)
                rest.removeFirst()
            }
        }
        return query
    }

    private func name(of path: ArraySlice<QueryTexts.Step>) -> String {
        path.dropFirst().reduce(path.first?.name ?? "") { outer, step in
            nestsWithDots && step.isMember ? "\(outer).\(step.name)" : "\(outer)[\(step.name)]"
        }
    }
}
