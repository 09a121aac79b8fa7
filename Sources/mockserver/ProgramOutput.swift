internal import Foundation

/// Standard output and standard error, unbuffered: a line is there when the request is.
enum ProgramOutput {
    static func line(_ text: String) { write(text, to: .standardOutput) }

    static func error(_ text: String) { write(text, to: .standardError) }

    // Nobody reads a pipe that is closed.
    private static func write(_ text: String, to file: FileHandle) {
        try? file.write(contentsOf: Data((text + "\n").utf8))
    }
}
