internal import Foundation

/// The implementation of `.transactionID(…)`, documented there.
struct TransactionIDInterceptor: PlacedInterceptor {
    let name: HTTPField.Name
    let generate: @Sendable () -> String

    @inline(__always)
    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        if !request.headers.contains(name) { request.headers.append(name, generate()) }
        return try await next(request)
    }

    var placement: [ChainRole] { [.changesRequest] }
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
    /// The default ID is a random UUID (version 4, RFC 9562 §5.4) in lower case.
    ///
    /// - Parameters:
    ///   - name: the field's name, `TransactionId` by default.
    ///   - generate: returns a new ID; called on any thread. By default a UUID.
    public static func transactionID(
        named name: HTTPField.Name = .transactionID,
        generate: (@Sendable () -> String)? = nil
    ) -> Self {
        Self(TransactionIDInterceptor(name: name, generate: generate ?? { UUID().uuidString.lowercased() }))
    }
}
