extension HTTPContext {
    private enum ClientOriginKey: HTTPContextKey { static var defaultValue: Origin? { nil } }
    private enum ClientFieldsKey: HTTPContextKey { static var defaultValue: HTTPFields { HTTPFields() } }
    private enum StatusAcceptedKey: HTTPContextKey { static var defaultValue: Bool { false } }
    private enum DecodingObserversKey: HTTPContextKey {
        static var defaultValue: [@Sendable (DecodingFailure) -> Void] { [] }
    }

    /// On a request: the origin of the base URL of the ``Client`` that made it; `nil` without a client or a base URL.
    ///
    /// It is the origin that credentials may be bound to when nothing else says. It stays the same when a redirect or an
    /// absolute URL leads elsewhere: whoever adds credentials compares it with the origin of the request's URL.
    public var clientOrigin: Origin? {
        get { self[ClientOriginKey.self] }
        set { self[ClientOriginKey.self] = newValue }
    }

    /// On a request: the fields that its ``Client`` filled in because the call gave none, `Accept` from the decoder and
    /// `Content-Type` of an encoded value. They are nobody's choice: ``HTTPRequest/addDefaults(_:)`` replaces them.
    var clientFields: HTTPFields {
        get { self[ClientFieldsKey.self] }
        set { self[ClientFieldsKey.self] = newValue }
    }

    /// On a response: whether an interceptor has taken its status, not a 2xx, for a success.
    ///
    /// The typed calls of a ``Client`` refuse any other response that isn't a 2xx.
    public var isStatusAccepted: Bool {
        get { self[StatusAcceptedKey.self] }
        set { self[StatusAcceptedKey.self] = newValue }
    }

    /// On a response: has a closure told if a typed call of a ``Client`` can't decode it, which no interceptor sees.
    ///
    /// Several are told one after the other, before the call throws.
    public mutating func observeDecodingFailures(_ observe: @escaping @Sendable (DecodingFailure) -> Void) {
        self[DecodingObserversKey.self].append(observe)
    }

    /// Those who want to be told.
    var decodingObservers: [@Sendable (DecodingFailure) -> Void] { self[DecodingObserversKey.self] }
}

extension HTTPRequest {
    /// Adds fields as defaults: those whose names are not there yet, or are there only because a ``Client`` filled them
    /// in on its own, `Accept` and `Content-Type`.
    public mutating func addDefaults(_ defaults: HTTPFields) {
        for field in context.clientFields where defaults.contains(field.name) {
            if headerFields[values: field.name] == [field.value] { headerFields.remove(field.name) }
        }
        headerFields.addMissing(defaults)
    }

    mutating func fillIn(_ name: HTTPField.Name, _ value: String) {
        guard !headerFields.contains(name) else { return }
        let field = HTTPField(unchecked: name, value)
        headerFields.append(field)
        context.clientFields.append(field)
    }
}
