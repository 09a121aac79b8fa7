#if canImport(os)
public import os

extension LogSink {
    /// Apple's unified log: failures as errors, all else as information.
    ///
    /// The entries are public in it, since they hold no secrets. It cuts messages of more than about a thousand bytes, so
    /// longer entries are given to it in parts, numbered.
    public static func logger(_ logger: Logger) -> LogSink {
        LogSink { entry in
            let type: OSLogType = entry.event == .failure ? .error : .info
            for part in entry.parts(ofAtMost: 1_000) { logger.log(level: type, "\(part, privacy: .public)") }
        }
    }
}
#endif
