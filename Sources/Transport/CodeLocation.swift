/// A line of a test, named in an error: where a stub was registered, or a clock was run.
package struct CodeLocation: Sendable, Hashable, CustomStringConvertible {
    /// The module and the file, as `#fileID` has them.
    package let fileID: String
    /// The line, counted from 1.
    package let line: Int

    /// Creates a location.
    package init(fileID: String, line: Int) {
        self.fileID = fileID
        self.line = line
    }

    /// The file and the line: `AppTests/UserTests.swift:12`.
    package var description: String { "\(fileID):\(line)" }
}
