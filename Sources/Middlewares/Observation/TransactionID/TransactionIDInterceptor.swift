/// Adds a unique ID to each request in a header field, so that the logs of client and server can be matched.
///
/// ```swift
/// let interceptors: [any Interceptor] = [
///     .transactionID(),                                   // TransactionId: 1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b
///     .transactionID(named: "X-Request-ID") { "ios-\(TransactionIDInterceptor.uuid())" },
/// ]
/// ```
/// ## Order
/// - Outside a retry, a redirect or a refresh, all attempts have the same ID; inside, each attempt has a new ID.
/// - Outside interceptors that log the ID.
///
/// A request that already has the field keeps its value.
public struct TransactionIDInterceptor: Interceptor {
    /// The name of the field.
    public let name: HTTPField.Name
    private let generate: @Sendable () -> String

    init(
        named name: HTTPField.Name = .transactionID,
        generate: @escaping @Sendable () -> String = { TransactionIDInterceptor.uuid() }
    ) {
        self.name = name
        self.generate = generate
    }

    /// Adds the field unless the request has it, and passes the request on.
    @inline(__always)
    public func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        if !request.headerFields.contains(name) { request.headerFields.append(name, generate()) }
        return try await next(request)
    }

    /// Returns a new UUID of version 4 in lower case (RFC 9562 §5.4), in about a hundred nanoseconds.
    ///
    /// UUIDs never repeat within a process. Between processes, a repetition is as unlikely as with 122 random bits.
    ///
    /// Use UUIDs to tell requests apart, **never as secrets**: given some UUIDs, an attacker may be able to compute others. A
    /// process forked without `exec` repeats the UUIDs of its parent.
    public static func uuid() -> String { UUIDSequence.shared.next().description }
}

extension Interceptor where Self == TransactionIDInterceptor {
    /// Adds a unique ID to each request in a header field. See ``TransactionIDInterceptor``.
    ///
    /// - Parameters:
    ///   - name: the field's name, `TransactionId` by default.
    ///   - generate: returns a new ID; called on any thread. By default ``TransactionIDInterceptor/uuid()``.
    public static func transactionID(
        named name: HTTPField.Name = .transactionID,
        generate: @escaping @Sendable () -> String = { TransactionIDInterceptor.uuid() }
    ) -> Self {
        Self(named: name, generate: generate)
    }
}
