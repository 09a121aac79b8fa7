internal import Foundation
internal import InterceptorsCore

/// Writes errors that fail no request to standard error, in debug builds.
package enum DebugReport {
    /// Whether this is a debug build.
    package static var isOn: Bool {
        #if DEBUG
        true
        #else
        false
        #endif
    }

    /// Writes one line to standard error in a debug build, and nothing in a release build.
    @Sendable
    static func cache(_ error: any Error) { write("cache", error) }

    /// Writes one line to standard error in a debug build, and nothing in a release build.
    @Sendable
    static func cookies(_ error: any Error) { write("cookies", error) }

    private static func write(_ element: String, _ error: any Error) {
        if isOn { try? FileHandle.standardError.write(contentsOf: Data(line(element, error).utf8)) }
    }

    /// The error on one line, with secrets redacted.
    static func line(_ element: String, _ error: any Error) -> String {
        "[Interceptors] \(element): \(ErrorText.line(error))\n"
    }
}
