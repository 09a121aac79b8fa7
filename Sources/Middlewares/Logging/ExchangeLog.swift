internal import Synchronization

/// Numbers the exchanges of one logger, and hands their entries to the sink.
final class ExchangeLog: Sendable {
    private let text: ExchangeText
    private let sink: LogSink
    private let count = Atomic<UInt64>(0)
    /// The time since the log was made.
    let elapsed: @Sendable () -> Duration

    init(text: ExchangeText, sink: LogSink, clock: any Clock<Duration>) {
        self.text = text
        self.sink = sink
        elapsed = Self.elapsed(on: clock)
    }

    /// Writes the first entry of an exchange, and gives its number.
    func begin(_ request: borrowing HTTPRequest) async -> UInt64 {
        let number = count.wrappingAdd(1, ordering: .relaxed).newValue
        let request = copy request
        let entry = text.showsContent(of: request) ? await text.inFull(request, number) : text.start(request, number)
        sink.write(LogEntry(event: .request, number: number, text: entry))
        return number
    }

    /// Writes the last entry of an exchange that was answered.
    func end(_ number: UInt64, with response: HTTPResponse, after time: Duration) async {
        let entry =
            text.showsContent(of: response)
            ? await text.inFull(response, number, after: time) : text.end(response, number, after: time)
        sink.write(LogEntry(event: .response, number: number, text: entry))
    }

    /// Writes the last entry of an exchange that was not.
    func end(_ number: UInt64, with error: any Error, after time: Duration) {
        let isCancelled = error is CancellationError
        let entry = isCancelled ? text.cancelled(number, after: time) : text.failed(number, with: error, after: time)
        sink.write(LogEntry(event: isCancelled ? .cancellation : .failure, number: number, text: entry))
    }

    // The type of the clock's instants is known here alone: a closure keeps one without a box for each request.
    private static func elapsed(on clock: some Clock<Duration>) -> @Sendable () -> Duration {
        let origin = clock.now
        return { origin.duration(to: clock.now) }
    }
}
