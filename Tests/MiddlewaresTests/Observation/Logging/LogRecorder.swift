import Interceptors
import InterceptorsTestSupport

final class LogRecorder: Sendable {
    private let kept = Notes<LogEntry>()

    var sink: LogSink { LogSink { [kept] entry in kept.add(entry) } }
    var entries: [LogEntry] { kept.all }
    var text: String { entries.map(\.text).joined(separator: "\n") }

    /// Whether each request number begins once and then ends once.
    var isPaired: Bool {
        var open: Set<UInt64> = []
        var seen: Set<UInt64> = []
        for entry in entries {
            if entry.event == .request {
                guard seen.insert(entry.number).inserted else { return false }
                open.insert(entry.number)
            } else if open.remove(entry.number) == nil {
                return false
            }
        }
        return open.isEmpty
    }
}
