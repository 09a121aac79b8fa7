// Calls that don't compile, with the call to write instead. Without these, the compiler's message is about protocols.

extension Client {
    /// Unavailable: a dictionary of `Any` can't be encoded.
    @available(*, unavailable, message: "Write `content: .json([…])`, or encode a type of your own.")
    public func post<Value: Decodable & Sendable>(
        _ path: RequestTarget,
        body: [String: Any],
        as type: Value.Type = Value.self
    ) async throws -> Value { try await post(path, as: type) }

    /// Unavailable: a dictionary of `Any` can't be encoded.
    @available(*, unavailable, message: "Write `content: .json([…])`, or encode a type of your own.")
    public func post(_ path: RequestTarget, body: [String: Any]) async throws { try await post(path) }

    /// Unavailable: an ``HTTPBody`` is content, which needs a media type.
    @available(*, unavailable, message: "Write `content: .raw(body, type: …)`.")
    public func post<Value: Decodable & Sendable>(
        _ path: RequestTarget,
        body: HTTPBody,
        as type: Value.Type = Value.self
    ) async throws -> Value { try await post(path, as: type) }

    /// Unavailable: an ``HTTPBody`` is content, which needs a media type.
    @available(*, unavailable, message: "Write `content: .raw(body, type: …)`.")
    public func post(_ path: RequestTarget, body: HTTPBody) async throws { try await post(path) }

    /// Unavailable: a dictionary of `Any` can't be encoded.
    @available(*, unavailable, message: "Write `content: .json([…])`, or encode a type of your own.")
    public func put<Value: Decodable & Sendable>(
        _ path: RequestTarget,
        body: [String: Any],
        as type: Value.Type = Value.self
    ) async throws -> Value { try await put(path, as: type) }

    /// Unavailable: a dictionary of `Any` can't be encoded.
    @available(*, unavailable, message: "Write `content: .json([…])`, or encode a type of your own.")
    public func put(_ path: RequestTarget, body: [String: Any]) async throws { try await put(path) }

    /// Unavailable: an ``HTTPBody`` is content, which needs a media type.
    @available(*, unavailable, message: "Write `content: .raw(body, type: …)`.")
    public func put<Value: Decodable & Sendable>(
        _ path: RequestTarget,
        body: HTTPBody,
        as type: Value.Type = Value.self
    ) async throws -> Value { try await put(path, as: type) }

    /// Unavailable: an ``HTTPBody`` is content, which needs a media type.
    @available(*, unavailable, message: "Write `content: .raw(body, type: …)`.")
    public func put(_ path: RequestTarget, body: HTTPBody) async throws { try await put(path) }

    /// Unavailable: a dictionary of `Any` can't be encoded.
    @available(*, unavailable, message: "Write `content: .json([…])`, or encode a type of your own.")
    public func patch<Value: Decodable & Sendable>(
        _ path: RequestTarget,
        body: [String: Any],
        as type: Value.Type = Value.self
    ) async throws -> Value { try await patch(path, as: type) }

    /// Unavailable: a dictionary of `Any` can't be encoded.
    @available(*, unavailable, message: "Write `content: .json([…])`, or encode a type of your own.")
    public func patch(_ path: RequestTarget, body: [String: Any]) async throws { try await patch(path) }

    /// Unavailable: an ``HTTPBody`` is content, which needs a media type.
    @available(*, unavailable, message: "Write `content: .raw(body, type: …)`.")
    public func patch<Value: Decodable & Sendable>(
        _ path: RequestTarget,
        body: HTTPBody,
        as type: Value.Type = Value.self
    ) async throws -> Value { try await patch(path, as: type) }

    /// Unavailable: an ``HTTPBody`` is content, which needs a media type.
    @available(*, unavailable, message: "Write `content: .raw(body, type: …)`.")
    public func patch(_ path: RequestTarget, body: HTTPBody) async throws { try await patch(path) }

    /// Unavailable: ``RequestContent`` is passed as `content:`.
    @available(*, unavailable, message: "Write `content:` instead of `body:`.")
    public func post<Value: Decodable & Sendable>(
        _ path: RequestTarget,
        body: RequestContent,
        as type: Value.Type = Value.self
    ) async throws -> Value { try await post(path, as: type) }

    /// Unavailable: ``RequestContent`` is passed as `content:`.
    @available(*, unavailable, message: "Write `content:` instead of `body:`.")
    public func post(_ path: RequestTarget, body: RequestContent) async throws { try await post(path) }

    /// Unavailable: ``RequestContent`` is passed as `content:`.
    @available(*, unavailable, message: "Write `content:` instead of `body:`.")
    public func put<Value: Decodable & Sendable>(
        _ path: RequestTarget,
        body: RequestContent,
        as type: Value.Type = Value.self
    ) async throws -> Value { try await put(path, as: type) }

    /// Unavailable: ``RequestContent`` is passed as `content:`.
    @available(*, unavailable, message: "Write `content:` instead of `body:`.")
    public func put(_ path: RequestTarget, body: RequestContent) async throws { try await put(path) }

    /// Unavailable: ``RequestContent`` is passed as `content:`.
    @available(*, unavailable, message: "Write `content:` instead of `body:`.")
    public func patch<Value: Decodable & Sendable>(
        _ path: RequestTarget,
        body: RequestContent,
        as type: Value.Type = Value.self
    ) async throws -> Value { try await patch(path, as: type) }

    /// Unavailable: ``RequestContent`` is passed as `content:`.
    @available(*, unavailable, message: "Write `content:` instead of `body:`.")
    public func patch(_ path: RequestTarget, body: RequestContent) async throws { try await patch(path) }
}
