/// The marks of a ``Client`` on a request that it makes.
private struct ClientMark: Sendable {
    var sender: RequestSender?
    var fields = HTTPFields()
}

extension HTTPContext {
    private enum ClientKey: HTTPContextKey { static var defaultValue: ClientMark { ClientMark() } }
    private enum ValidatesStatusKey: HTTPContextKey { static var defaultValue: Bool { true } }
    private enum DecodingObserversKey: HTTPContextKey {
        static var defaultValue: [@Sendable (ResponseDecodingError) -> Void] { [] }
    }

    /// On a request: the origin of the base URL of the ``Client`` that made it. `nil` without a client or a base URL.
    ///
    /// Interceptors bind credentials to this origin unless configured otherwise. The origin doesn't change when a redirect or
    /// an absolute URL leads elsewhere. An interceptor that adds credentials therefore compares the origin with the request's
    /// URL.
    public var clientOrigin: Origin? {
        get { sender?.origin }
        set {
            let settings = sender?.settings
            sender = newValue == nil && settings == nil ? nil : RequestSender(origin: newValue, settings: settings)
        }
    }

    /// On a request: the ``Client`` that made it, as long as the caller keeps that client. `nil` without a client.
    package var client: Client? { sender?.settings.map { Client($0, for: observedStep) } }

    /// On a request: an object that keeps ``client``, for work on the request that goes on without the caller.
    package var clientOwner: (any AnyObject & Sendable)? { sender?.settings }

    /// On a request: the client that made it.
    var sender: RequestSender? {
        get { self[ClientKey.self].sender }
        set { self[ClientKey.self].sender = newValue }
    }

    /// On a request: the fields its ``Client`` filled in because the call set none: `Accept` from the decoder, and
    /// `Content-Type` of an encoded value. Nobody chose these fields, so ``HTTPRequest/addDefaults(_:)`` replaces them.
    var clientFields: HTTPFields {
        get { self[ClientKey.self].fields }
        set { self[ClientKey.self].fields = newValue }
    }

    /// Whether a status that isn't a 2xx fails the call; `true` by default. On a response it is `false` if the request said so, or
    /// if an interceptor accepted the status as a success.
    ///
    /// If `false`, `validateStatus` passes on every response, and the typed calls of a ``Client`` decode a response whatever
    /// its status: `context: .with(\.validatesStatus, false)`. `unwrapEnvelope` still throws for an envelope that reports a
    /// failure.
    public var validatesStatus: Bool {
        get { self[ValidatesStatusKey.self] }
        set { self[ValidatesStatusKey.self] = newValue }
    }

    /// On a response: adds a closure to call if a typed call of a ``Client`` can't decode the response. Interceptors don't see
    /// that failure.
    ///
    /// Several closures are called in the order they were added, before the call throws.
    public mutating func observeDecodingErrors(_ observe: @escaping @Sendable (ResponseDecodingError) -> Void) {
        self[DecodingObserversKey.self].append(observe)
    }

    /// The closures to call when decoding fails.
    package var decodingObservers: [@Sendable (ResponseDecodingError) -> Void] { self[DecodingObserversKey.self] }
}

extension HTTPRequest {
    /// Adds each field whose name the request doesn't have yet. Also replaces an `Accept` or `Content-Type` that a ``Client``
    /// filled in by itself.
    public mutating func addDefaults(_ defaults: HTTPFields) {
        for field in context.clientFields where defaults.contains(field.name) {
            if headers[values: field.name] == [field.value] { headers.remove(field.name) }
        }
        headers.addMissing(defaults)
    }

    mutating func fillIn(_ name: HTTPField.Name, _ value: String) {
        guard !headers.contains(name) else { return }
        let field = HTTPField(unchecked: name, value)
        headers.append(field)
        context.clientFields.append(field)
    }
}
