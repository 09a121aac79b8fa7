/// An interceptor whose own type is hidden. The ready-made interceptors are values of this type.
///
/// ```swift
/// let resilient: [AnyInterceptor] = [.retry(maxAttempts: 3), .timeout(.seconds(10))]
/// ```
/// A chain calls the wrapped interceptor directly, so hiding a type costs nothing per request.
///
/// ## Add a factory
/// An own interceptor may stay internal to its module, behind a factory that completes like the ready-made ones:
///
/// ```swift
/// extension Interceptor where Self == AnyInterceptor {
///     public static func language(_ language: String) -> Self { Self(LanguageInterceptor(language: language)) }
/// }
/// ```
public struct AnyInterceptor: Interceptor {
    /// The wrapped interceptor, which is never an `AnyInterceptor`.
    package let base: any Interceptor
    /// The reasons for breaking rules about the order of a chain, by the rule's name.
    let acknowledgements: [String: String]

    /// Wraps an interceptor. Wrapping an `AnyInterceptor` gives an equivalent value, not a second layer.
    public init(_ interceptor: any Interceptor) {
        base = interceptor.unwrapped
        acknowledgements = (interceptor as? Self)?.acknowledgements ?? [:]
    }

    init(_ interceptor: any Interceptor, acknowledging rule: String, because reason: String) {
        base = interceptor.unwrapped
        let earlier = (interceptor as? Self)?.acknowledgements ?? [:]
        acknowledgements = earlier.merging([rule: reason]) { $1 }
    }

    /// Passes the request to the wrapped interceptor.
    public func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        try await base.intercept(request, next: next)
    }
}

extension AnyInterceptor: CustomStringConvertible {
    /// The interceptor's name in a chain, without its settings, such as `retry`.
    public var description: String { InterceptorChain.name(base) }
}

extension Interceptor {
    /// The interceptor without the wrapper that hides its type.
    var unwrapped: any Interceptor { (self as? AnyInterceptor)?.base ?? self }
}
