#if canImport(os)
public import os

extension LogSink {
    /// Apple's unified log. Failures are logged as errors, all other entries as information.
    ///
    /// Entries are marked public, because they contain no secrets. The unified log truncates messages over about 1,000 bytes,
    /// so longer entries are split into numbered parts.
    public static func logger(_ logger: Logger) -> LogSink {
        LogSink { entry in
            let type: OSLogType = entry.event == .failure ? .error : .info
            for part in entry.parts(ofAtMost: 1_000) { logger.log(level: type, "\(part, privacy: .public)") }
        }
    }
}
#endif
