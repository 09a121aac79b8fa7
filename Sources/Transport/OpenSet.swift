/// A set of named values that may grow, such as the codes of an error. Handle the values you know, and keep a default.
public protocol OpenSet: RawRepresentable, Hashable, Sendable, CustomStringConvertible where RawValue == String {
    /// Creates a value from its name.
    init(rawValue: String)
}

extension OpenSet {
    /// The name of the value.
    public var description: String { rawValue }
}
