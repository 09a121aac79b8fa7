internal import InterceptorsSyntax

/// A position in a distributed trace (W3C Trace Context): a trace, a span in it, and whether the trace is recorded.
///
/// ```swift
/// var request = HTTPRequest(url: url)
/// request.context.trace = TraceContext(traceparent: incoming[.traceparent] ?? "", tracestate: incoming[.tracestate])
/// ```
public struct TraceContext: Sendable, Hashable {
    /// The two halves of the trace's ID, which has 16 bytes that are not all zero.
    private let high: UInt64
    private let low: UInt64
    /// The span's ID: 8 bytes that are not all zero.
    private let span: UInt64
    private let flags: UInt8
    /// The value of `tracestate`, which holds data specific to tracing systems; `nil` if there is none.
    public let tracestate: String?

    // The known flags: sampled, and random trace ID (level 2 of the recommendation). All others are cleared.
    private static let knownFlags: UInt8 = 0b11

    /// The trace's ID, as 32 lower-case hexadecimal digits.
    public var traceID: String { high.hexadecimal + low.hexadecimal }

    /// The span's ID, as 16 lower-case hexadecimal digits.
    public var spanID: String { span.hexadecimal }

    /// Whether the trace is recorded.
    public var isSampled: Bool { flags & 1 == 1 }

    /// The value of a `traceparent` field for this span, in version 00 of the format.
    public var traceparent: String { "00-\(traceID)-\(spanID)-\(flags.hexadecimal)" }

    /// A context with a new span ID in the same trace.
    func child(span: UInt64) -> TraceContext {
        TraceContext(high: high, low: low, span: span, flags: flags, tracestate: tracestate)
    }
}

extension TraceContext {
    init(high: UInt64, low: UInt64, span: UInt64, isSampled: Bool, tracestate: String? = nil) {
        self.init(high: high, low: low, span: span, flags: isSampled ? 1 : 0, tracestate: tracestate)
    }

    /// Parses the two fields of a message. Returns `nil` if `traceparent` is invalid; its `tracestate` is then ignored too.
    ///
    /// A version later than 00 is parsed like version 00, and anything after the flags is ignored. `tracestate` is passed on as it is.
    public init?(traceparent: String, tracestate: String? = nil) {
        let text = Array(traceparent.utf8)
        guard text.count >= 55, text[2] == Self.dash, text[35] == Self.dash, text[52] == Self.dash,
            let version = Self.number(text[0..<2]), version != 0xFF, text.count == 55 || version > 0,
            text.count == 55 || text[55] == Self.dash,
            let high = Self.number(text[3..<19]), let low = Self.number(text[19..<35]),
            let span = Self.number(text[36..<52]), let flags = Self.number(text[53..<55]),
            high | low != 0, span != 0
        else { return nil }
        self.init(
            high: high,
            low: low,
            span: span,
            flags: UInt8(truncatingIfNeeded: flags) & Self.knownFlags,
            // A field with any other character would fail the request.
            tracestate: tracestate.flatMap { $0.utf8.allSatisfy { 0x20...0x7E ~= $0 } && !$0.isEmpty ? $0 : nil }
        )
    }

    private static let dash = UInt8(ascii: "-")

    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        for digit in digits {
            // Upper case is not valid (W3C Trace Context §3.2.2.3).
            guard !(0x41...0x46 ~= digit), let number = ASCII.hexadecimalValue(digit) else { return nil }
            value = value << 4 | UInt64(number)
        }
        return value
    }
}

extension HTTPContext {
    private enum TraceKey: HTTPContextKey { static var defaultValue: TraceContext? { nil } }

    /// The trace context. On a request: the trace it belongs to, for instance that of an incoming request on a server;
    /// `tracing` continues that trace. On a response: the span under which its request was sent.
    public var trace: TraceContext? {
        get { self[TraceKey.self] }
        set { self[TraceKey.self] = newValue }
    }
}
