internal import Foundation

/// Standard output and standard error, unbuffered: a line is there when the request is.
enum ProgramOutput {
    static func line(_ text: String) { write(text, to: .standardOutput) }

    static func error(_ text: String) { write(text, to: .standardError) }

    // A closed pipe must not end the server.
    private static func write(_ text: String, to file: FileHandle) {
        try? file.write(contentsOf: Data((text + "\n").utf8))
    }
}
