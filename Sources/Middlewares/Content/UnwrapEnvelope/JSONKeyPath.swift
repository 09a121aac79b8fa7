/// The path to a value in a JSON text: the names of the object members that lead to the value, outermost first.
///
/// A string literal is split at its dots. If a name contains a dot, use an array literal:
///
/// ```swift
/// let result: JSONKeyPath = "data.result"
/// let dotted: JSONKeyPath = ["api.example.com", "result"]
/// let whole: JSONKeyPath = []                             // the whole text
/// ```
/// Names are compared byte by byte in UTF-8, after a name's escapes are decoded. A path can't enter an array: a number in a
/// path is the name of an object's member.
public struct JSONKeyPath: Sendable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, CustomStringConvertible {
    /// The names of the members, outermost first; empty for the whole text.
    public let names: [String]
    let encodedNames: [[UInt8]]

    /// Creates the path through members with these names, which may contain dots.
    public init(names: [String]) {
        self.names = names
        encodedNames = names.map { Array($0.utf8) }
    }

    /// Creates a path from names separated by dots. An empty text is a path with one empty name.
    public init(_ dotted: String) {
        self.init(names: dotted.split(separator: ".", omittingEmptySubsequences: false).map(String.init))
    }

    /// Creates a path from a literal with names separated by dots.
    public init(stringLiteral dotted: String) { self.init(dotted) }

    /// Creates the path through members with these names, which may contain dots.
    public init(arrayLiteral names: String...) { self.init(names: names) }

    /// The names, joined by dots; `[]` for the whole text.
    public var description: String { names.isEmpty ? "[]" : names.joined(separator: ".") }
}
