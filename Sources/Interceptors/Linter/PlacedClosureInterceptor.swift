/// The implementation of `.intercept(_:placement:_:)`, documented there.
struct PlacedClosureInterceptor: PlacedInterceptor, NamedInterceptor {
    let name: String
    let placement: Placement
    let body: @Sendable (inout HTTPRequest, Next) async throws -> HTTPResponse

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        try await body(&request, next)
    }
}

extension Interceptor where Self == AnyInterceptor {
    /// An interceptor made from a closure that declares its place, so that ``InterceptorChain/findings`` can judge it:
    ///
    /// ```swift
    /// .intercept("rejectErrorPages", placement: [.judges]) { request, next in
    ///     let response = try await next(request)
    ///     if response.headerFields[.contentType] == "text/html" { throw ErrorPage() }
    ///     return response
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - name: the element's name in the printed chain, in findings and in a journal.
    ///   - placement: the roles of the closure and its wishes; `[]` for a closure that plays no role.
    ///   - body: handles one request, as ``Interceptor/intercept(_:next:)`` does.
    public static func intercept(
        _ name: String,
        placement: Placement,
        _ body: @escaping @Sendable (inout HTTPRequest, Next) async throws -> HTTPResponse
    ) -> Self {
        Self(PlacedClosureInterceptor(name: name, placement: placement, body: body))
    }
}
