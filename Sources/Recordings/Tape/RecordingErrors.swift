internal import Foundation
internal import InterceptorsTransport

extension HTTPErrorCode {
    /// `TransportError`: a recording has no response to the request, or no more of its content.
    public static let notRecorded = Self(rawValue: "notRecorded")
}

extension TransportError {
    static func unknownMode(_ mode: Recording.Mode) -> TransportError {
        let known = Recording.Mode.known.map(\.rawValue).joined(separator: ", ")
        return TransportError(
            .unsupported,
            "\"\(PrintableText.line(mode.rawValue))\" is no mode of a recording: \(Recording.environmentVariable) or the"
                + " recording's mode must be one of \(known)."
        )
    }

    static func busy(_ path: String) -> TransportError {
        TransportError(
            .unwritableFile,
            "Another process is recording \(path), and one process records a file at a time. Wait for its end, record into another"
                + " file, or play in mode none."
        )
    }

    static func missing(_ path: String) -> TransportError {
        TransportError(
            .unreadableFile,
            "The recording \(path) doesn't exist, and mode none records nothing. Record it in mode once, and check that"
                + " \(Recording.environmentVariable) isn't set to none."
        )
    }
}
