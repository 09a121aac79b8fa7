public import Foundation

/// Thrown by ``Recording/finish(allowingUnused:)``: everything that no longer fits, in one error. URLs are redacted.
public struct RecordingError: Error, Sendable, CustomStringConvertible {
    /// The recording's file.
    public let file: URL
    /// The entries that no request has used, in the order of the file: method and URL.
    public let unused: [String]
    /// The exchanges that aren't recorded, or without their content: method, URL and reason. The content is too long, a failure was to
    /// replace a response, the side file can't be written, or the exchange hasn't ended.
    public let notRecorded: [String]

    /// The file and what the error lists.
    public var description: String {
        let remedy = " Delete these entries, or pass allowingUnused: true."
        let lists = [
            unused.isEmpty ? nil : "No request has used \(unused.joined(separator: ", ")).\(remedy)",
            notRecorded.isEmpty ? nil : "Not recorded: \(notRecorded.joined(separator: "; "))",
        ]
        return "RecordingError: \(file.lastPathComponent): \(lists.compactMap(\.self).joined(separator: " "))"
    }
}

extension HTTPErrorCode {
    /// `TransportError`: a recording has no response to the request, or no more of its content.
    public static let notRecorded = Self(rawValue: "notRecorded")
}
