public import Interceptors
public import Logging

extension LogSink {
    /// A logger of swift-log: `.logging(.headers, to: .logger(Logger(label: "http")))`.
    ///
    /// Each entry is one message, without secrets. Its metadata are the event, as `http.event`, and the exchange's number, as
    /// `http.exchange`. Metadata of your own go into the logger.
    ///
    /// - Parameters:
    ///   - logger: the logger.
    ///   - level: the level of requests, responses and cancellations.
    ///   - failureLevel: the level of failures.
    public static func logger(
        _ logger: Logging.Logger,
        level: Logging.Logger.Level = .info,
        failureLevel: Logging.Logger.Level = .error
    ) -> LogSink {
        LogSink { entry in
            logger.log(
                level: entry.event == .failure ? failureLevel : level,
                "\(entry.text)",
                metadata: ["http.event": "\(entry.event)", "http.exchange": "\(entry.number)"]
            )
        }
    }
}
