/// Gives each request an ID of its own in a header field, by which the logs of client and server are brought together.
///
/// ```swift
/// let interceptors: [any Interceptor] = [
///     .transactionID(),                                   // TransactionId: 1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b
///     .transactionID(named: "X-Request-ID") { "ios-\(TransactionIDInterceptor.uuid())" },
/// ]
/// ```
/// ## Its place
/// Outside a retry, a redirect or a refresh: one ID for all attempts. Inside it: one for each. Outside what logs it.
///
/// A request that has the field already keeps it.
public struct TransactionIDInterceptor: Interceptor {
    /// The name of the field.
    public let name: HTTPField.Name
    private let generate: @Sendable () -> String

    /// An interceptor that sets a field to a fresh ID.
    ///
    /// - Parameters:
    ///   - name: the field's name, `TransactionId` by default.
    ///   - generate: makes an ID, on any thread; by default ``uuid()``.
    public init(
        named name: HTTPField.Name = .transactionID,
        generate: @escaping @Sendable () -> String = { TransactionIDInterceptor.uuid() }
    ) {
        self.name = name
        self.generate = generate
    }

    /// Sets the field unless the request has it, and passes the request on.
    @inline(__always)
    public func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        if !request.headerFields.contains(name) { request.headerFields.append(name, generate()) }
        return try await next(request)
    }

    /// A fresh UUID of version 4 in lower case (RFC 9562 §5.4), in about a hundred nanoseconds.
    ///
    /// It never repeats within the process, and repeats in another one as rarely as random numbers of 122 bits do. It tells
    /// requests apart and is **not for secrets**: who knows some of the IDs may be able to work out others. A process
    /// that was forked without an `exec` goes on with the sequence of its parent.
    public static func uuid() -> String { UUIDSequence.shared.next().description }
}

extension Interceptor where Self == TransactionIDInterceptor {
    /// Sets a header field to a fresh ID: see ``TransactionIDInterceptor``.
    ///
    /// - Parameters:
    ///   - name: the field's name, `TransactionId` by default.
    ///   - generate: makes an ID, on any thread; by default ``TransactionIDInterceptor/uuid()``.
    public static func transactionID(
        named name: HTTPField.Name = .transactionID,
        generate: @escaping @Sendable () -> String = { TransactionIDInterceptor.uuid() }
    ) -> Self {
        Self(named: name, generate: generate)
    }
}
