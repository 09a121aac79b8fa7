public import Foundation

/// Thrown by ``Recording/finish(allowingUnused:)``: everything that no longer fits, in one error.
public struct RecordingError: Error, Sendable {
    /// One entry or exchange, and why it is listed.
    public struct Problem: Sendable, Hashable {
        /// Why an entry is listed. An open set.
        public struct Kind: OpenSet {
            /// The name of the kind.
            public let rawValue: String
            /// Creates a kind from its name.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// No request has used the entry.
            public static let unused = Self(rawValue: "unused")
            /// The entry was recorded again, and differs in status, content type or the shape of its JSON. The file holds the new
            /// one.
            public static let drifted = Self(rawValue: "drifted")
            /// The exchange isn't recorded, or without its content: the content is too long, a failure was to replace a response, or
            /// the side file can't be written.
            public static let notRecorded = Self(rawValue: "notRecorded")
            /// The exchange hadn't ended, so it isn't recorded yet: its response hasn't come, or its stream is still being read.
            public static let unfinished = Self(rawValue: "unfinished")
        }

        /// Why the entry is listed.
        public let kind: Kind
        /// The method and the URL, with secrets redacted.
        public let entry: String
        /// The difference or the cause in words, without values of contents.
        public let detail: String
    }

    /// The recording's file.
    public let file: URL
    /// The problems: unused entries in the order of the file, then the others in the order in which they came up.
    public let problems: [Problem]
}

extension RecordingError: CustomStringConvertible {
    /// The file and the problems, separated by semicolons.
    public var description: String {
        let list = problems.map { "\($0.entry): \($0.detail)" }.joined(separator: "; ")
        return "RecordingError: \(file.lastPathComponent): \(list)"
    }
}
