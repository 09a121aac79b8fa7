internal import Foundation

extension Envelope {
    /// An envelope's code, as text and, if possible, as a number.
    ///
    /// Some servers write the same code as `401` and as `"401"`. The two compare equal, and so do `200` and `200.0`.
    /// Texts are compared exactly.
    ///
    /// ```swift
    /// if error.serverCode == 401 || error.serverCode == "TOKEN_EXPIRED" { signIn() }
    /// ```
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The content of a string, the digits of a whole number, or any other number as the server wrote it.
        public let text: String
        /// The code as a number, if ``text`` is a whole number that fits in an `Int`.
        public let number: Int?

        /// Creates a code from its text.
        public init(_ text: String) {
            self.text = text
            number = Int(text)
        }

        /// Creates a code from its number.
        public init(_ number: Int) {
            text = String(number)
            self.number = number
        }

        /// Whether two codes have the same text.
        public static func == (left: Self, right: Self) -> Bool { left.text == right.text }

        /// Hashes the text.
        public func hash(into hasher: inout Hasher) { hasher.combine(text) }

        /// The code's text.
        public var description: String { text }
    }
}

extension Envelope.Code: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    /// Creates a code from an integer literal.
    public init(integerLiteral number: Int) { self.init(number) }

    /// Creates a code from a string literal.
    public init(stringLiteral text: String) { self.init(text) }

    /// Reads the code from a JSON value in a range of offsets; `nil` for `null`, objects and arrays.
    init?(json: Data, at range: Range<Int>) {
        guard let text = json.jsonText(at: range) else { return nil }
        self.init(text)
        // A whole number in another notation, such as 2e2 or -0, that loses no digits in the conversion.
        if number ?? 0 == 0, json[json.startIndex + range.lowerBound] != UInt8(ascii: "\""), let value = Double(text),
            value.magnitude <= 0x1p53, let number = Int(exactly: value)
        {
            self.init(number)
        }
    }
}

extension Envelope {
    /// The rule that separates envelopes of success from envelopes of failure.
    public struct Success: Sendable {
        enum Rule: Sendable {
            case ranges([ClosedRange<Int>])
            case codes([Code])
            case flag(String)
            case payload
            case custom(@Sendable (Envelope) throws -> Bool)
        }

        let rule: Rule

        /// Success is a code whose number lies in one of these ranges. A response without a code isn't an envelope.
        public static func codes(_ ranges: ClosedRange<Int>...) -> Self { Self(rule: .ranges(ranges)) }

        /// Success is one of these codes, such as `.codes(0)` or `.codes("success", "ok")`. A response without a code isn't
        /// an envelope.
        public static func codes(_ codes: Code...) -> Self { Self(rule: .codes(codes)) }

        /// Success is a flag equal to `true`, `1`, `"true"` or `"1"`, in any case. A response without the flag isn't an
        /// envelope.
        ///
        /// - Parameter path: the path of the flag in the body.
        public static func flag(_ path: String) -> Self { Self(rule: .flag(path)) }

        /// Success is a payload, for envelopes without a code, such as `{"data":…}`. A body without a value at the payload's path isn't
        /// an envelope.
        public static let payload = Self(rule: .payload)

        /// Success is decided by a closure; every JSON object counts as an envelope. Errors that the closure throws reach
        /// the caller.
        ///
        /// For a body that is streamed, or of 16 KiB or more, the closure runs off the caller's actor.
        public static func custom(_ isSuccess: @escaping @Sendable (Envelope) throws -> Bool) -> Self {
            Self(rule: .custom(isSuccess))
        }

        var flagPath: String? {
            if case .flag(let path) = rule { path } else { nil }
        }

        /// The path of the value without which a body isn't an envelope, and the kind of value.
        func required(in paths: EnvelopePaths) -> String {
            if case .payload = rule { return "value at \(paths.payload)" }
            return "number, string or boolean at \(flagPath ?? paths.code)"
        }

        /// Whether the envelope reports success; `nil` if the response isn't an envelope.
        func verdict(on envelope: Envelope) throws -> Bool? {
            switch rule {
            case .ranges(let ranges):
                guard let code = envelope.code else { return nil }
                return code.number.map { number in ranges.contains { $0.contains(number) } } ?? false
            case .codes(let codes):
                return envelope.code.map(codes.contains)
            case .flag:
                return envelope.flag.map { ["true", "1"].contains($0.lowercased()) }
            case .payload:
                return envelope.payloadPlace.map { _ in true }
            case .custom(let isSuccess):
                return try isSuccess(envelope)
            }
        }
    }
}
