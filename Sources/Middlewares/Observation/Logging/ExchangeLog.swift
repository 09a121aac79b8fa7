internal import Synchronization

/// Numbers the exchanges of one logger and passes their entries to the sink.
final class ExchangeLog: Sendable {
    private let text: LogEntryText
    private let sink: LogSink
    private let count = Atomic<UInt64>(0)
    /// Returns the time since the log's creation.
    let elapsed: @Sendable () -> Duration

    init(text: LogEntryText, sink: LogSink, clock: any Clock<Duration>) {
        self.text = text
        self.sink = sink
        elapsed = Stopwatch.starting(clock).elapsed
    }

    /// The number for a new exchange.
    func nextNumber() -> UInt64 { count.wrappingAdd(1, ordering: .relaxed).newValue }

    /// Writes the first entry of an exchange.
    func begin(_ number: UInt64, _ request: HTTPRequest) async {
        sink.write(LogEntry(event: .request, number: number, text: await text.start(request, number)))
    }

    /// Writes the last entry of an exchange with a response.
    func end(_ number: UInt64, _ response: HTTPResponse, after time: Duration) async {
        sink.write(LogEntry(event: .response, number: number, text: await text.end(response, number, after: time)))
    }

    /// Writes the last entry of an exchange without a response.
    func end(_ number: UInt64, with error: any Error, after time: Duration) {
        let isCancelled = error is CancellationError
        let entry = isCancelled ? text.cancelled(number, after: time) : text.failed(number, with: error, after: time)
        sink.write(LogEntry(event: isCancelled ? .cancellation : .failure, number: number, text: entry))
    }
}
