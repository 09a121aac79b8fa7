internal import InterceptorsSyntax

/// A value for an ``HTTPQuery``: any ``URLValue``, or an array of them. Conform to ``URLValue``.
public protocol HTTPQueryValue: Sendable {
    /// Adds the value to a query, at the end and under this name.
    func append(to query: inout HTTPQuery, as name: String)
}

extension Array: HTTPQueryValue where Element: URLValue {
    /// Adds the texts of the elements as a list, in the query's ``HTTPQuery/ArrayFormat``.
    public func append(to query: inout HTTPQuery, as name: String) { query.append(name, map(\.urlText), isList: true) }
}

/// The query of a URL, or the fields of a form: names and values in order, percent-encoded strictly.
///
/// ```swift
/// let query: HTTPQuery = [
///     "q": "rock & roll",           // q=rock%20%26%20roll
///     "page": 2,                    // page=2
///     "tags": ["a", "b"],           // tags=a&tags=b
///     "after": cursor,              // omitted if nil
/// ]
/// let found: [Song] = try await api.get("/songs", query: query)
/// ```
/// A value of your own type becomes a query with ``HTTPQueryEncoder``.
///
/// Only the unreserved characters of RFC 3986 §2.3 stay unchanged (letters, digits, `-`, `.`, `_`, `~`). A space becomes `%20`
/// and a plus sign `%2B`, so servers that read `+` as a space see the right value. Names may repeat; order is kept.
public struct HTTPQuery: Sendable, Hashable {
    /// The way arrays are written. An empty array is left out.
    public struct ArrayFormat: Sendable, Hashable {
        private enum Kind { case repeated, brackets, indexed, commaSeparated }

        private let kind: Kind

        /// `tags=a&tags=b`
        public static let repeated = Self(kind: .repeated)
        /// `tags[]=a&tags[]=b`, with the brackets percent-encoded
        public static let brackets = Self(kind: .brackets)
        /// `tags[0]=a&tags[1]=b`, with the brackets percent-encoded
        public static let indexed = Self(kind: .indexed)
        /// `tags=a,b`, with a comma inside a value written as `%2C`
        public static let commaSeparated = Self(kind: .commaSeparated)

        fileprivate func pairs(_ name: String, _ values: [String]) -> [String] {
            switch kind {
            case .repeated: values.map { "\(name)=\($0)" }
            case .brackets: values.map { "\(name)%5B%5D=\($0)" }
            case .indexed: values.enumerated().map { "\(name)%5B\($0)%5D=\($1)" }
            case .commaSeparated: values.isEmpty ? [] : ["\(name)=\(values.joined(separator: ","))"]
            }
        }
    }

    private struct Item: Sendable, Hashable {
        let name: String
        let texts: [String]
        /// Whether the texts are written in the query's ``ArrayFormat``; otherwise there is one.
        let isList: Bool
    }

    private var items: [Item] = []
    private let arrays: ArrayFormat
    private let spacesAsPlus: Bool

    /// Creates an empty query that repeats the names of arrays and writes a space as `%20`.
    public init() { self.init([:]) }

    /// Creates a query with the items of another one, by default none: `HTTPQuery(["id": [1, 2]], arrays: .brackets)`.
    ///
    /// - Parameters:
    ///   - query: the items.
    ///   - arrays: the way arrays are written; by default their name is repeated.
    ///   - spacesAsPlus: whether a space is written as `+`, as HTML forms write it; by default as `%20`, which every server reads
    ///     as a space.
    public init(_ query: HTTPQuery = [:], arrays: ArrayFormat = .repeated, spacesAsPlus: Bool = false) {
        items = query.items
        self.arrays = arrays
        self.spacesAsPlus = spacesAsPlus
    }

    /// Creates a query from a dictionary, whose names are sorted.
    @_disfavoredOverload  // A literal becomes a query in its own order.
    public init(_ dictionary: [String: String]) {
        self.init()
        for (name, value) in dictionary.sorted(by: { $0.key < $1.key }) { append(name, value) }
    }

    /// Creates a query from the text after a URL's `?`, or from the content of a form. A `+` is read as a space only with
    /// `spacesAsPlus`. An item without `=` has an empty value. A space is written in the same way.
    public init(parsing text: String, spacesAsPlus: Bool = false) {
        self.init(spacesAsPlus: spacesAsPlus)
        // Bytes, because an `&` followed by a combining accent is another character.
        func decoded(_ part: ArraySlice<UInt8>) -> String {
            let bytes = spacesAsPlus ? part.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 } : Array(part)
            return String(decoding: bytes.percentDecoded, as: UTF8.self)
        }
        for pair in Array(text.utf8).split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            append(decoded(parts[0]), parts.count > 1 ? decoded(parts[1]) : "")
        }
    }

    /// Adds an item at the end, unless the value is `nil`.
    public mutating func append(_ name: String, _ value: (any HTTPQueryValue)?) {
        value?.append(to: &self, as: name)
    }

    mutating func append(_ name: String, _ texts: [String], isList: Bool) {
        items.append(Item(name: name, texts: texts, isList: isList))
    }

    /// Adds the items of another query at the end, in this query's formats.
    public mutating func append(contentsOf query: HTTPQuery) { items += query.items }

    /// The names in order. A repeated name appears once for each item.
    public var names: [String] { items.map(\.name) }

    /// The first value of a name; `nil` if the query doesn't have it. Setting a value replaces all items of the name, at the
    /// index of the first item; `nil` removes the items.
    public subscript(name: String) -> String? {
        get { self[values: name].first }
        set { self[values: name] = newValue.map { [$0] } ?? [] }
    }

    /// All values of a name in order. Setting values replaces all items of the name, at the index of the first item.
    public subscript(values name: String) -> [String] {
        get { items.filter { $0.name == name }.flatMap(\.texts) }
        set {
            let index = items.firstIndex { $0.name == name } ?? items.endIndex
            items.removeAll { $0.name == name }
            guard !newValue.isEmpty else { return }
            items.insert(Item(name: name, texts: newValue, isList: newValue.count > 1), at: index)
        }
    }

    /// Whether the query adds nothing to a URL.
    public var isEmpty: Bool { encoded.isEmpty }

    /// The query as it appears in a URL after the `?`.
    public var encoded: String { items.flatMap(pairs).joined(separator: "&") }

    private func pairs(of item: Item) -> [String] {
        (item.isList ? arrays : .repeated).pairs(component(item.name), item.texts.map(component))
    }

    private func component(_ text: String) -> String {
        let encoded = PercentEncoding.component(text)
        return spacesAsPlus ? encoded.replacing("%20", with: "+") : encoded
    }
}

extension HTTPQuery: ExpressibleByDictionaryLiteral {
    /// Creates a query from the literal's items in order, leaving out items whose value is `nil`. Names may repeat.
    public init(dictionaryLiteral elements: (String, (any HTTPQueryValue)?)...) {
        (arrays, spacesAsPlus) = (.repeated, false)
        for (name, value) in elements { append(name, value) }
    }
}

extension HTTPQuery: CustomStringConvertible, CustomDebugStringConvertible {
    /// The query with secrets redacted: the values of sensitive names, and secrets inside other values, such as a nested URL's.
    public var description: String {
        items.flatMap { item in
            Redaction.standard.isSensitive(item.name)
                ? ["\(component(item.name))=\(Redaction.standard.placeholder)"]
                : pairs(of: item).map { URLText.redacted(pair: $0) }
        }
        .joined(separator: "&")
    }

    /// Equal to ``description``.
    public var debugDescription: String { description }
}
