internal import Foundation
internal import InterceptorsCore

/// Standard output and standard error, unbuffered: a line is there when the request is.
enum ProgramOutput {
    /// Prints one line. Names of files and requests can't control the terminal.
    static func line(_ text: String) { write(PrintableText.line(text), to: .standardOutput) }

    /// Prints text of the program.
    static func text(_ text: String) { write(text, to: .standardOutput) }

    /// Prints text of the program and its arguments.
    static func error(_ text: String) { write(text, to: .standardError) }

    // Nobody reads a pipe that is closed.
    private static func write(_ text: String, to file: FileHandle) {
        try? file.write(contentsOf: Data((text + "\n").utf8))
    }
}
