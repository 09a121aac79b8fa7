/// A line of a test, named in an error: where a stub was registered, or a clock was run.
public struct CodeLocation: Sendable, Hashable, CustomStringConvertible {
    /// The module and the file, as `#fileID` has them.
    public let fileID: String
    /// The line, counted from 1.
    public let line: Int

    /// Creates a location.
    public init(fileID: String, line: Int) {
        self.fileID = fileID
        self.line = line
    }

    /// The file and the line: `AppTests/UserTests.swift:12`.
    public var description: String { "\(fileID):\(line)" }
}
