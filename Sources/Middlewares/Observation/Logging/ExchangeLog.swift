internal import Synchronization

/// Numbers the exchanges of one logger and passes their entries to the sink.
final class ExchangeLog: Sendable {
    private let text: ExchangeText
    private let sink: LogSink
    private let count = Atomic<UInt64>(0)
    /// Returns the time since the log's creation.
    let elapsed: @Sendable () -> Duration

    init(text: ExchangeText, sink: LogSink, clock: any Clock<Duration>) {
        self.text = text
        self.sink = sink
        elapsed = Stopwatch.starting(clock).elapsed
    }

    /// The number for a new exchange.
    func nextNumber() -> UInt64 { count.wrappingAdd(1, ordering: .relaxed).newValue }

    /// Writes the first entry of an exchange. If the entry includes content, writes nothing and returns `false`: call
    /// ``beginInFull(_:_:)`` instead.
    // Synchronous: it rarely waits, and an async call costs as much as the log line.
    func begin(_ number: UInt64, _ request: borrowing HTTPRequest) -> Bool {
        guard !text.showsContent(of: request) else { return false }
        sink.write(LogEntry(event: .request, number: number, text: text.start(request, number)))
        return true
    }

    func beginInFull(_ number: UInt64, _ request: HTTPRequest) async {
        sink.write(LogEntry(event: .request, number: number, text: await text.inFull(request, number)))
    }

    /// Writes the last entry of an exchange with a response. If the entry includes content, writes nothing and returns `false`:
    /// call ``endInFull(_:_:after:)`` instead.
    func end(_ number: UInt64, _ response: borrowing HTTPResponse, after time: Duration) -> Bool {
        guard !text.showsContent(of: response) else { return false }
        sink.write(LogEntry(event: .response, number: number, text: text.end(response, number, after: time)))
        return true
    }

    func endInFull(_ number: UInt64, _ response: HTTPResponse, after time: Duration) async {
        let entry = await text.inFull(response, number, after: time)
        sink.write(LogEntry(event: .response, number: number, text: entry))
    }

    /// Writes the last entry of an exchange without a response.
    func end(_ number: UInt64, with error: any Error, after time: Duration) {
        let isCancelled = error is CancellationError
        let entry = isCancelled ? text.cancelled(number, after: time) : text.failed(number, with: error, after: time)
        sink.write(LogEntry(event: isCancelled ? .cancellation : .failure, number: number, text: entry))
    }
}
