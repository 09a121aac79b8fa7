/// The way to a value in a JSON text: the names of the object members that lead to it, from the outside in.
///
/// A string is split at its dots; a list of names serves where a name holds one:
///
/// ```swift
/// let result: JSONKeyPath = "data.result"
/// let dotted: JSONKeyPath = ["api.example.com", "result"]
/// let whole: JSONKeyPath = []                             // the whole text
/// ```
/// Names are compared exactly, byte by byte in UTF-8, after a name's escapes are undone. There is no way into arrays: a
/// number is a name like any other.
public struct JSONKeyPath: Sendable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, CustomStringConvertible {
    /// The names of the members, the outermost first; none for the whole text.
    public let names: [String]
    let encodedNames: [[UInt8]]

    /// The way through members of these names.
    public init(names: [String]) {
        self.names = names
        encodedNames = names.map { Array($0.utf8) }
    }

    /// The way through the members whose names stand between the dots. An empty text is one empty name.
    public init(_ dotted: String) {
        self.init(names: dotted.split(separator: ".", omittingEmptySubsequences: false).map(String.init))
    }

    /// The way through the members whose names stand between the dots.
    public init(stringLiteral dotted: String) { self.init(dotted) }

    /// The way through members of these names, which may hold dots.
    public init(arrayLiteral names: String...) { self.init(names: names) }

    /// The names, joined by dots; `[]` for the whole text.
    public var description: String { names.isEmpty ? "[]" : names.joined(separator: ".") }
}
