internal import Foundation
internal import Synchronization

/// What takes the entries of a ``LoggingInterceptor``.
///
/// ```swift
/// .logging(.headers)                                          // standard error
/// .logging(.headers, to: LogSink { entry in print(entry) })   // a closure
/// ```
/// On Apple's platforms `to: .logger(Logger(subsystem: "com.example.shop", category: "http"))` writes to the unified log.
public struct LogSink: Sendable {
    let write: @Sendable (LogEntry) -> Void

    /// A sink that is a closure.
    ///
    /// - Parameter write: takes an entry whole, on the task of the request and at once: a request waits for it. It is
    ///   called from several tasks at a time.
    public init(_ write: @escaping @Sendable (LogEntry) -> Void) { self.write = write }

    /// Standard error: each entry and a line break in one write, so that entries don't mingle.
    ///
    /// It writes at once, so that nothing is lost when the process ends.
    public static let standardError = LogSink(descriptor: STDERR_FILENO)

    init(descriptor: Int32) {
        write = { entry in
            var line = entry.text + "\n"
            line.withUTF8 { Self.write(UnsafeRawBufferPointer($0), to: descriptor) }
        }
    }

    // A pipe takes a long entry in pieces: until it has the last one, no other entry may come between.
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

    /// Waits for a descriptor that doesn't block, but no longer than a second: a log is not worth more.
    private static func isWritable(_ descriptor: Int32) -> Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&waiting, 1, 1_000) > 0
    }
}

/// One entry of a log: several lines, which belong together.
public struct LogEntry: Sendable, CustomStringConvertible {
    /// What an entry tells. An open set: handle the ones you know, and keep a default.
    public struct Event: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
        /// The name of the event, such as `request`.
        public let rawValue: String
        /// An event by its name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The name of the event.
        public var description: String { rawValue }

        /// A request came by.
        public static let request = Self(rawValue: "request")
        /// It was answered, with whatever status.
        public static let response = Self(rawValue: "response")
        /// It failed.
        public static let failure = Self(rawValue: "failure")
        /// It was cancelled.
        public static let cancellation = Self(rawValue: "cancellation")
    }

    /// What the entry tells.
    public let event: Event
    /// Which exchange it is about: the first and the last entry of one have the same number. Each logger counts from 1.
    public let number: UInt64
    /// The lines, without secrets and control characters, and without a line break at the end.
    public let text: String

    /// The same as ``text``.
    public var description: String { text }
}
