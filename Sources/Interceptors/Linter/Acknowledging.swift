extension Interceptor {
    /// Silences one rule for this element, or for all elements of a `.group` or `.when`, with a reason.
    ///
    /// ```swift
    /// let interceptors: [any Interceptor] = [
    ///     .cache(.memory()),
    ///     .cache(.disk(at: caches)).acknowledged(.cacheInsideCache, "memory in front of the disk"),
    /// ]
    /// ```
    /// The chain's ``InterceptorChain/description`` shows the reason. At run time the element is the same as without it.
    ///
    /// - Parameters:
    ///   - rule: the rule that the chain breaks on purpose.
    ///   - reason: the reason, for the next reader.
    public func acknowledged(_ rule: ChainRule, _ reason: String) -> AnyInterceptor {
        AnyInterceptor(self, acknowledging: rule.rawValue, because: reason)
    }
}
