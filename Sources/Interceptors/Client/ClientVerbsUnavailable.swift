// Calls that don't compile, with the call to write instead. Without these, the compiler's message is about protocols.

public import Foundation

private struct Unavailable: Error {}

extension RequestTarget {
    /// Unavailable: a value added to a literal would not be percent-encoded.
    @available(
        *,
        unavailable,
        message:
            "Write the value into the literal, which encodes it: \"/users/\\(id)\". Text that is a path: .init(text: path)."
    )
    public static func + (path: RequestTarget, value: some URLValue) -> RequestTarget {
        RequestTarget(text: path.text + value.urlText)
    }
}

extension Client {
    /// Unavailable: a value isn't a path.
    @available(
        *,
        unavailable,
        message: "Write a literal of unwrapped URLValues, \"/users/\\(id)\". A whole path or URL: .init(text: next)."
    )
    public func get<Value: Decodable & Sendable>(
        _ value: some URLValue,
        as type: Value.Type = Value.self,
        query: HTTPQuery = HTTPQuery()
    ) throws -> Value { throw Unavailable() }

    /// Unavailable: a value isn't a path.
    @available(
        *,
        unavailable,
        message: "Write a literal of unwrapped URLValues, \"/users/\\(id)\". A whole path or URL: .init(text: next)."
    )
    public func get(_ value: some URLValue, query: HTTPQuery = HTTPQuery()) throws { throw Unavailable() }

    /// Unavailable: a call's limits are part of its context.
    @available(*, unavailable, message: "Write `context: .with(\\.timeouts, Timeouts(total: .seconds(5)))`.")
    public func get<Value: Decodable & Sendable>(
        _ path: RequestTarget,
        as type: Value.Type = Value.self,
        timeout: Double
    ) throws -> Value { throw Unavailable() }

    /// Unavailable: a call's limits are part of its context.
    @available(*, unavailable, message: "Write `context: .with(\\.timeouts, Timeouts(total: .seconds(5)))`.")
    public func get<Value: Decodable & Sendable>(
        _ path: RequestTarget,
        as type: Value.Type = Value.self,
        timeout: Duration
    ) throws -> Value { throw Unavailable() }

    /// Unavailable: a call's limits are part of its context.
    @available(*, unavailable, message: "Write `context: .with(\\.timeouts, Timeouts(total: .seconds(5)))`.")
    public func get(_ path: RequestTarget, timeout: Double) throws { throw Unavailable() }

    /// Unavailable: limits for all calls are the transport's.
    @available(*, unavailable, message: "Write `transport: .platform(timeouts: Timeouts(total: .seconds(5)))`.")
    public init(baseURL: URL? = nil, interceptors: [any Interceptor] = [], timeout: Double) {
        self.init(baseURL: baseURL, interceptors: interceptors)
    }
}

extension Client.Verb {
    /// Unavailable: a dictionary of `Any` can't be encoded.
    @available(*, unavailable, message: "Write `body: .json([…])`, or encode a type of your own.")
    public func callAsFunction<Value: Decodable & Sendable>(
        _ path: RequestTarget,
        body: [String: Any],
        as type: Value.Type = Value.self
    ) throws -> Value { throw Unavailable() }

    /// Unavailable: a dictionary of `Any` can't be encoded.
    @available(*, unavailable, message: "Write `body: .json([…])`, or encode a type of your own.")
    public func callAsFunction(_ path: RequestTarget, body: [String: Any]) throws { throw Unavailable() }

    /// Unavailable: an ``HTTPBody`` is content, which needs a media type.
    @available(*, unavailable, message: "Write `body: .stream(body, type: …)`.")
    public func callAsFunction<Value: Decodable & Sendable>(
        _ path: RequestTarget,
        body: HTTPBody,
        as type: Value.Type = Value.self
    ) throws -> Value { throw Unavailable() }

    /// Unavailable: an ``HTTPBody`` is content, which needs a media type.
    @available(*, unavailable, message: "Write `body: .stream(body, type: …)`.")
    public func callAsFunction(_ path: RequestTarget, body: HTTPBody) throws { throw Unavailable() }
}
