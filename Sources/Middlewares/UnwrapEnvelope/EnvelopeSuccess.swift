extension Envelope {
    /// An envelope's code: a text, and a number where it is one.
    ///
    /// Servers write the same code as `401` and as `"401"`: both are equal here, as are `200` and `200.0`. Texts are
    /// compared exactly.
    ///
    /// ```swift
    /// if error.code == 401 || error.code == "TOKEN_EXPIRED" { signIn() }
    /// ```
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The text of a string; the digits of a whole number; any other number as it was written.
        public let text: String
        /// The number, where the text is that of a whole number which an `Int` holds.
        public let number: Int?

        /// A code by its text.
        public init(_ text: String) {
            self.text = text
            number = Int(text)
        }

        /// A code by its number.
        public init(_ number: Int) {
            text = String(number)
            self.number = number
        }

        /// Whether the texts are the same.
        public static func == (left: Self, right: Self) -> Bool { left.text == right.text }

        /// Hashes the text.
        public func hash(into hasher: inout Hasher) { hasher.combine(text) }

        /// The text.
        public var description: String { text }
    }
}

extension Envelope.Code: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    /// A code by its number.
    public init(integerLiteral number: Int) { self.init(number) }

    /// A code by its text.
    public init(stringLiteral text: String) { self.init(text) }

    /// The code that a JSON value stands for, or `nil` for `null`, objects and arrays.
    init?(json: UnsafeRawBufferPointer) {
        guard let text = JSONText.scalar(json) else { return nil }
        self.init(text)
        // A number that is written otherwise than by its digits, such as 2e2 or -0.
        if number ?? 0 == 0, json.first != UInt8(ascii: "\""), let number = JSONText.wholeNumber(text) {
            self.init(number)
        }
    }
}

extension Envelope {
    /// What tells an envelope of success from one of failure.
    public struct Success: Sendable {
        enum Rule: Sendable {
            case ranges([ClosedRange<Int>])
            case codes([Code])
            case flag(JSONKeyPath)
            case custom(@Sendable (Envelope) throws -> Bool)
        }

        let rule: Rule

        /// Success is a code whose number lies in one of these ranges. What has no code is no envelope.
        public static func codes(_ ranges: ClosedRange<Int>...) -> Self { Self(rule: .ranges(ranges)) }

        /// Success is one of these codes, such as `.codes(0)` or `.codes("success", "ok")`. What has no code is no
        /// envelope.
        public static func codes(_ codes: Code...) -> Self { Self(rule: .codes(codes)) }

        /// Success is a flag that says `true` or `1`, or a string of one of them. What has no flag is no envelope.
        ///
        /// - Parameter path: where the flag stands in the body; with an envelope of header fields, the field's name.
        public static func flag(_ path: JSONKeyPath) -> Self { Self(rule: .flag(path)) }

        /// The closure decides; any JSON object is an envelope. What it throws is thrown to the caller. For a body that is
        /// streamed, or of 16 KiB or more, it does not run on the caller's actor.
        public static func custom(_ isSuccess: @escaping @Sendable (Envelope) throws -> Bool) -> Self {
            Self(rule: .custom(isSuccess))
        }

        var flagPath: JSONKeyPath? {
            if case .flag(let path) = rule { path } else { nil }
        }

        /// Whether a code of this number is all that it takes to be one of success.
        func isPlainly(_ number: Int) -> Bool {
            guard case .ranges(let ranges) = rule else { return false }
            return ranges.contains { $0.contains(number) }
        }

        /// Whether it is one of success; `nil` if it is no envelope at all.
        func verdict(on envelope: Envelope) throws -> Bool? {
            switch rule {
            case .ranges(let ranges):
                guard let code = envelope.code else { return nil }
                return code.number.map { number in ranges.contains { $0.contains(number) } } ?? false
            case .codes(let codes):
                return envelope.code.map(codes.contains)
            case .flag:
                return envelope.flag.map { ["true", "1"].contains($0.lowercased()) }
            case .custom(let isSuccess):
                return try isSuccess(envelope)
            }
        }
    }

    /// What becomes of a response that is no envelope.
    public enum Otherwise: Sendable {
        /// It passes as it is.
        case pass
        /// It ends in an ``EnvelopeError`` with ``EnvelopeError/Reason/notAnEnvelope``.
        case fail
    }
}
