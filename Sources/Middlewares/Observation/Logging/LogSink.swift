internal import Foundation
internal import Synchronization

/// The destination of the entries of `logging`.
///
/// ```swift
/// .logging(.headers)                                          // standard error
/// .logging(.headers, to: LogSink { entry in print(entry) })   // a closure
/// ```
/// On Apple's platforms `to: .logger(Logger(subsystem: "com.example.shop", category: "http"))` writes to the unified log.
public struct LogSink: Sendable {
    private let receive: @Sendable (LogEntry) -> Void

    /// Creates a sink from a closure.
    ///
    /// - Parameter write: receives each entry. The closure runs on the request's task, and the request waits for the closure.
    ///   Several tasks can call the closure at the same time.
    public init(_ write: @escaping @Sendable (LogEntry) -> Void) { receive = write }

    /// Writes an entry. Interceptors call this method to log to the sink that the app chose.
    public func write(_ entry: LogEntry) { receive(entry) }

    /// A sink that writes to standard error, each entry with its line break as a unit, so that entries don't mix.
    ///
    /// Entries aren't buffered, so none are lost when the process ends.
    public static let standardError = LogSink(descriptor: STDERR_FILENO)

    init(descriptor: Int32) {
        receive = { entry in
            var line = entry.text + "\n"
            line.withUTF8 { Self.write(UnsafeRawBufferPointer($0), to: descriptor) }
        }
    }

    // A pipe accepts a long entry in pieces. The lock keeps other entries out until the last piece is written.
    private static let turn = Mutex(())

    private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) {
        turn.withLock { _ in
            var rest = bytes
            while !rest.isEmpty {
                #if canImport(Darwin)
                let count = Darwin.write(descriptor, rest.baseAddress, rest.count)
                #else
                let count = Foundation.write(descriptor, rest.baseAddress, rest.count)
                #endif
                if count > 0 {
                    rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
                } else if errno != EINTR, errno != EAGAIN || !isWritable(descriptor) {
                    return
                }
            }
        }
    }

    /// Waits up to a second for a non-blocking descriptor to accept data. After that, the rest of the entry is dropped.
    private static func isWritable(_ descriptor: Int32) -> Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&waiting, 1, 1_000) > 0
    }
}

/// One entry of a log, which can have several lines.
public struct LogEntry: Sendable, CustomStringConvertible {
    /// The event that an entry reports. An open set: handle the events you know, and keep a default.
    public struct Event: OpenSet {
        /// The name of the event, such as `request`.
        public let rawValue: String
        /// Creates an event from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A request was passed on.
        public static let request = Self(rawValue: "request")
        /// A response arrived, with any status.
        public static let response = Self(rawValue: "response")
        /// The request failed.
        public static let failure = Self(rawValue: "failure")
        /// The request was cancelled.
        public static let cancellation = Self(rawValue: "cancellation")
    }

    /// The event that the entry reports.
    public let event: Event
    /// The number of the exchange, equal in its first and last entry. Each logger counts from 1.
    public let number: UInt64
    /// The lines, without secrets and control characters, and without a final line break.
    public let text: String

    /// Creates an entry from text of one or more lines.
    ///
    /// Secrets are redacted as by `Redaction.text(_:)`, and control characters become escapes. Lines after the first are
    /// indented, so that no text can imitate an entry. Text in a form that the redaction doesn't know must not contain secrets.
    ///
    /// - Parameters:
    ///   - event: the event that the entry reports.
    ///   - number: the number of the exchange, if the entries of several exchanges may mix; 0 by default.
    ///   - text: the text.
    public init(_ event: Event, number: UInt64 = 0, text: String) {
        let shown = Redaction.standard.text(text)
        let end = shown.unicodeScalars.lastIndex { $0 != "\n" && $0 != "\r" }
        let lines = end.map { String(shown.unicodeScalars[...$0]) } ?? ""
        let indent = LogEntryText.indent
        let indented = PrintableText.lines(lines, indent: indent).dropFirst(indent.count)
        self.init(event: event, number: number, text: String(indented))
    }

    init(event: Event, number: UInt64, text: String) {
        self.event = event
        self.number = number
        self.text = text
    }

    /// Equal to ``text``.
    public var description: String { text }
}
