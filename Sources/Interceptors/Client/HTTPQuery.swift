internal import HTTPSyntax

/// A value for an ``HTTPQuery``: any ``URLValue``, or an array of them.
public protocol HTTPQueryValue: Sendable {
    /// The value's content in a query.
    var queryContent: HTTPQuery.Content { get }
}

extension Array: HTTPQueryValue where Element: URLValue {
    /// The texts of the elements.
    public var queryContent: HTTPQuery.Content { .list(map(\.urlText)) }
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
/// Only the unreserved characters of RFC 3986 §2.3 stay unchanged (letters, digits, `-`, `.`, `_`, `~`). A space becomes `%20`
/// and a plus sign `%2B`, so servers that read `+` as a space see the right value. Names may repeat; order is kept.
public struct HTTPQuery: Sendable, Hashable {
    /// A value's text, or a list of texts.
    public enum Content: Sendable, Hashable {
        /// One text.
        case single(String)
        /// The texts of a list, written in the query's ``ArrayFormat``.
        case list([String])
    }

    /// The way arrays are written. An empty array is left out.
    public enum ArrayFormat: Sendable, Hashable {
        /// `tags=a&tags=b`
        case repeated
        /// `tags[]=a&tags[]=b`, with the brackets percent-encoded
        case brackets
        /// `tags=a,b`, with a comma inside a value written as `%2C`
        case commaSeparated
    }

    private struct Item: Sendable, Hashable {
        let name: String
        let content: Content
    }

    private var items: [Item] = []
    private let arrays: ArrayFormat

    /// Creates an empty query.
    ///
    /// - Parameter arrays: the way arrays are written.
    public init(arrays: ArrayFormat = .repeated) { self.arrays = arrays }

    /// Creates a query with the same items and another array format: `HTTPQuery(["id": [1, 2]], arrays: .brackets)`.
    public init(_ query: HTTPQuery, arrays: ArrayFormat) {
        items = query.items
        self.arrays = arrays
    }

    /// Adds an item at the end, unless the value is `nil`.
    public mutating func append(_ name: String, _ value: (any HTTPQueryValue)?) {
        guard let value else { return }
        items.append(Item(name: name, content: value.queryContent))
    }

    /// Whether the query adds nothing to a URL.
    public var isEmpty: Bool { encoded.isEmpty }

    /// The query as it appears in a URL after the `?`.
    public var encoded: String {
        if items.isEmpty { return "" }
        return items.flatMap { pairs(of: $0) }.joined(separator: "&")
    }

    private func pairs(of item: Item) -> [String] {
        let name = PercentEncoding.component(item.name)
        switch item.content {
        case .single(let text):
            return ["\(name)=\(PercentEncoding.component(text))"]
        case .list(let texts):
            let values = texts.map(PercentEncoding.component)
            switch arrays {
            case .repeated: return values.map { "\(name)=\($0)" }
            case .brackets: return values.map { "\(name)%5B%5D=\($0)" }
            case .commaSeparated: return values.isEmpty ? [] : ["\(name)=\(values.joined(separator: ","))"]
            }
        }
    }
}

extension HTTPQuery: ExpressibleByDictionaryLiteral {
    /// Creates a query from the literal's items in order, leaving out items whose value is `nil`. Names may repeat.
    public init(dictionaryLiteral elements: (String, (any HTTPQueryValue)?)...) {
        self.init()
        for (name, value) in elements { append(name, value) }
    }
}

extension HTTPQuery: CustomStringConvertible, CustomDebugStringConvertible {
    /// The query with secrets redacted: the values of sensitive names, and secrets inside other values, such as a nested URL's.
    public var description: String {
        items.flatMap { item in
            Redaction.standard.isSensitive(item.name)
                ? ["\(PercentEncoding.component(item.name))=\(Redaction.standard.placeholder)"]
                : pairs(of: item).map { URLText.redacted(pair: $0) }
        }
        .joined(separator: "&")
    }

    /// Equal to ``description``.
    public var debugDescription: String { description }
}
