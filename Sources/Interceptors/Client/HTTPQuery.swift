/// A value that an ``HTTPQuery`` takes: any ``URLValue``, or an array of them.
public protocol HTTPQueryValue: Sendable {
    /// What it contributes to a query.
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
///     "after": cursor,              // left out if nil
/// ]
/// let found: [Song] = try await api.get("/songs", query: query)
/// ```
/// Only the unreserved characters of RFC 3986 §2.3 stay as they are (letters, digits, `-`, `.`, `_`, `~`): a space is
/// `%20`, a plus sign `%2B`, whatever a server takes `+` for. Names may come more than once; order is kept.
public struct HTTPQuery: Sendable, Hashable {
    /// What a value contributes.
    public enum Content: Sendable, Hashable {
        /// One text.
        case single(String)
        /// The texts of a list, written as the query's ``ArrayFormat`` says.
        case list([String])
    }

    /// How an array is written. An empty one is left out.
    public enum ArrayFormat: Sendable, Hashable {
        /// `tags=a&tags=b`
        case repeated
        /// `tags[]=a&tags[]=b`, the brackets percent-encoded
        case brackets
        /// `tags=a,b`, where a comma in a value is `%2C`
        case commaSeparated
    }

    private struct Item: Sendable, Hashable {
        let name: String
        let content: Content
    }

    private var items: [Item] = []
    private let arrays: ArrayFormat

    /// An empty query.
    ///
    /// - Parameter arrays: how arrays are written.
    public init(arrays: ArrayFormat = .repeated) { self.arrays = arrays }

    /// A query with its arrays written in another way: `HTTPQuery(["id": [1, 2]], arrays: .brackets)`.
    public init(_ query: HTTPQuery, arrays: ArrayFormat) {
        items = query.items
        self.arrays = arrays
    }

    /// Adds an item after those that are there, unless the value is `nil`.
    public mutating func append(_ name: String, _ value: (any HTTPQueryValue)?) {
        guard let value else { return }
        items.append(Item(name: name, content: value.queryContent))
    }

    /// Whether it contributes nothing to a URL.
    public var isEmpty: Bool { encoded.isEmpty }

    /// The query as it stands in a URL after the `?`.
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
    /// The items in the order of the literal, without those whose value is `nil`. A name may stand there more than once.
    public init(dictionaryLiteral elements: (String, (any HTTPQueryValue)?)...) {
        self.init()
        for (name, value) in elements { append(name, value) }
    }
}

extension HTTPQuery: CustomStringConvertible, CustomDebugStringConvertible {
    /// The query with the values of sensitive names redacted, and values that hold secrets themselves, such as another URL.
    public var description: String {
        items.flatMap { item in
            Redaction.standard.isSensitive(item.name)
                ? ["\(PercentEncoding.component(item.name))=\(Redaction.standard.placeholder)"]
                : pairs(of: item).map { URLText.redacted(pair: $0) }
        }
        .joined(separator: "&")
    }

    /// The same as ``description``.
    public var debugDescription: String { description }
}
