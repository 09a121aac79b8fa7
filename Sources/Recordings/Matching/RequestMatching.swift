/// The parts of a request that must equal a recorded request's, so that its answer is played.
///
/// ```swift
/// let matching: RequestMatching = [.method, .path, .query(except: "page"), .fields([.accept])]
/// ```
/// Each part is compared by its meaning:
///
/// - term ``method``: exactly.
/// - term ``origin``: scheme, host and port; a missing port is the scheme's default.
/// - term ``path``: after percent-decoding; `%2F` differs from `/`.
/// - term ``query``, ``query(except:)``, ``query(only:)``: the decoded items, in any order. `+` is a space, and
///   an item without `=` has an empty value.
/// - term ``fields(_:)``: the values of some fields, in their order.
/// - term ``body``: JSON by its values, whatever the order of members, the spelling of numbers and strings, and the
///   whitespace; forms by their items, in any order; multipart content by its parts, whatever the boundary; anything else byte
///   for byte. Content under gzip or deflate is compared without the coding; on Linux, brotli and zstd too.
///
/// Both requests are compared without their secrets. A request with today's token finds the answer that was recorded with
/// another token, and requests that differ only in a secret are equal.
public struct RequestMatching: Sendable, ExpressibleByArrayLiteral {
    enum Part: Sendable {
        case method, origin, path, body
        /// The items with these names, or all others.
        case query(Set<String>, isOnly: Bool)
        case fields([HTTPField.Name])
    }

    /// The parts, in the order in which a message names their differences.
    let parts: [Part]

    init(parts: [Part]) { self.parts = parts }

    /// Compares the parts of several values. Without any part, all requests are equal.
    public init(arrayLiteral elements: RequestMatching...) { parts = elements.flatMap(\.parts) }

    /// Method, origin, path, query and content.
    public static let standard: Self = [.method, .origin, .path, .query, .body]

    /// The method.
    public static var method: Self { Self(parts: [.method]) }
    /// The URL's scheme, host and port.
    public static var origin: Self { Self(parts: [.origin]) }
    /// The URL's path.
    public static var path: Self { Self(parts: [.path]) }
    /// All items of the URL's query.
    public static var query: Self { Self(parts: [.query([], isOnly: false)]) }
    /// The content.
    public static var body: Self { Self(parts: [.body]) }

    /// The items of the URL's query, except some.
    ///
    /// - Parameter names: the decoded names of the items to ignore.
    public static func query(except names: String...) -> Self { Self(parts: [.query(Set(names), isOnly: false)]) }

    /// Some items of the URL's query.
    ///
    /// - Parameter names: the decoded names of the items to compare.
    public static func query(only names: String...) -> Self { Self(parts: [.query(Set(names), isOnly: true)]) }

    /// Some header fields.
    ///
    /// - Parameter names: the names of the fields. The value of a secret field counts as equal to any other, so only the number
    ///   of such fields is compared.
    public static func fields(_ names: [HTTPField.Name]) -> Self { Self(parts: [.fields(names)]) }
}
