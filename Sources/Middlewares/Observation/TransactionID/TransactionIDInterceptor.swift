internal import InterceptorsSyntax
internal import Synchronization

/// The implementation of `.transactionID(…)`, documented there.
struct TransactionIDInterceptor: Interceptor {
    private let name: HTTPField.Name
    private let generate: @Sendable () -> String

    init(
        named name: HTTPField.Name = .transactionID,
        generate: (@Sendable () -> String)? = nil
    ) {
        self.name = name
        self.generate = generate ?? { Self.uuid() }
    }

    @inline(__always)
    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        if !request.headerFields.contains(name) { request.headerFields.append(name, generate()) }
        return try await next(request)
    }

    /// Returns a new UUID of version 4 in lower case (RFC 9562 §5.4).
    static func uuid() -> String {
        let count = UUIDSource.count.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
        return uuid(UUIDSource.high.mixed(count), UUIDSource.low.mixed(count))
    }

    static func uuid(_ high: UInt64, _ low: UInt64) -> String {
        let version: UInt64 = 4 << 12, variant: UInt64 = 0b10 << 62
        let words = ((high & ~0xF000 | version).bigEndian, (low & .max >> 2 | variant).bigEndian)
        return withUnsafeBytes(of: words) { bytes in
            String(unsafeUninitializedCapacity: 36) { text in
                var index = 0
                for byte in bytes {
                    if index == 8 || index == 13 || index == 18 || index == 23 {
                        text[index] = UInt8(ascii: "-")
                        index += 1
                    }
                    text[index] = Hexadecimal.digit(byte >> 4, .lowerCase)
                    text[index + 1] = Hexadecimal.digit(byte & 15, .lowerCase)
                    index += 2
                }
                return index
            }
        }
    }
}

/// A counter, and random keys that turn each count into 128 bits. Mixing between two keys can't be undone from one ID. Drawing the bits from the system for each UUID takes 3 µs
/// instead of 0.1, a tenth of the realistic chain.
private enum UUIDSource {
    static let count = Atomic<UInt64>(0)
    static let high = Keys()
    static let low = Keys()

    struct Keys {
        private let first = UInt64.random(in: .min ... .max)
        private let second = UInt64.random(in: .min ... .max)

        func mixed(_ count: UInt64) -> UInt64 { SplitMix.mixed(SplitMix.mixed(count &+ first) ^ second) }
    }
}

extension TransactionIDInterceptor: PlacedInterceptor {
    var placement: Placement { [.changesRequest] }
}

extension Interceptor where Self == AnyInterceptor {
    /// Adds a unique ID to each request in a header field, so that the logs of client and server can be matched.
    ///
    /// ```swift
    /// let interceptors: [any Interceptor] = [
    ///     .transactionID(),                                   // TransactionId: 1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b
    ///     .transactionID(named: "X-Request-ID") { "ios-\(UUID())" },
    /// ]
    /// ```
    /// ## Order
    /// - Outside a retry, a redirect or a refresh, all attempts have the same ID; inside, each attempt has a new ID.
    /// - Outside interceptors that log the ID.
    ///
    /// A request that already has the field keeps its value.
    ///
    /// The default ID is a UUID of version 4 in lower case (RFC 9562 §5.4). It tells requests apart and is **no secret**: given
    /// some IDs, an attacker may be able to compute others. A process forked without `exec` repeats the IDs of its parent.
    ///
    /// - Parameters:
    ///   - name: the field's name, `TransactionId` by default.
    ///   - generate: returns a new ID; called on any thread. By default a UUID.
    public static func transactionID(
        named name: HTTPField.Name = .transactionID,
        generate: (@Sendable () -> String)? = nil
    ) -> Self {
        Self(TransactionIDInterceptor(named: name, generate: generate))
    }
}
