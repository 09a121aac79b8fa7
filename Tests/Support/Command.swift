#if os(Linux) || os(macOS)
public import Foundation

/// Another program, run until it ends.
///
/// Input and output go through files. On Linux, Foundation's read of a pipe traps when a signal interrupts it. Besides, a
/// program that fills one pipe while the test reads the other would hang.
public enum Command {
    /// How a program ended, and its output.
    public struct Result: Sendable {
        /// The exit status, or the number of the signal that ended the program.
        public let status: Int32
        /// The bytes of standard output.
        public let output: Data
        /// The bytes of standard error.
        public let errors: Data

        /// Standard output as text.
        public var text: String { String(decoding: output, as: UTF8.self) }
        /// Standard error as text.
        public var complaint: String { String(decoding: errors, as: UTF8.self) }
    }

    /// Runs the program at a path until it ends. Throws if it can't be started.
    public static func run(_ path: String, _ arguments: [String] = [], input: Data = Data()) async throws -> Result {
        let folder = try TemporaryFolder()
        let files = try [("input", input), ("output", Data()), ("errors", Data())].map { try folder.write($1, to: $0) }

        let handles = try [
            FileHandle(forReadingFrom: files[0]), FileHandle(forWritingTo: files[1]),
            FileHandle(forWritingTo: files[2]),
        ]
        let process = try ChildProcess(path, arguments, descriptors: handles.map(\.fileDescriptor))
        for handle in handles { try handle.close() }
        let status =
            switch await process.ended() {
            case .exit(let status), .signal(let status): status
            }
        return try Result(
            status: status,
            output: Data(contentsOf: files[1]),
            errors: Data(contentsOf: files[2])
        )
    }
}
#endif
