/// Names a value in an ``HTTPContext``.
///
/// ```swift
/// enum Priority: HTTPContextKey { static let defaultValue = 0 }
///
/// extension HTTPContext {
///     var priority: Int {
///         get { self[Priority.self] }
///         set { self[Priority.self] = newValue }
///     }
/// }
/// ```
public protocol HTTPContextKey {
    /// What the key names.
    associatedtype Value: Sendable
    /// What a context gives where nothing was set.
    static var defaultValue: Value { get }
}

/// Values under typed keys that travel with a request or a response, but not over the wire.
///
/// Interceptors and transports use it to speak to each other and to the caller. An empty one allocates nothing.
public struct HTTPContext: Sendable {
    // A handful of values at most, the last one first: a search in a line beats hashing. Since entries never change, a copy
    // of a context to which a value is added goes on sharing the others: interceptors keep many, and add to many.
    @usableFromInline var first: HTTPContextEntry?

    /// A context without values.
    public init() {}

    // Inlined, the type of the value is known where it is asked for: that is done some thirty times for a request, and to
    // look the type up at run time takes longer than to find the value.
    /// The value under a key, its default where none was set.
    @inlinable public subscript<Key: HTTPContextKey>(key: Key.Type) -> Key.Value {
        get {
            // A key stands for one type of values, unless two modules say different things of it.
            guard let first, let entry = first.entry(of: ObjectIdentifier(key)),
                type(of: entry) == HTTPContextValue<Key.Value>.self
            else { return Key.defaultValue }
            return unsafeDowncast(entry, to: HTTPContextValue<Key.Value>.self).value
        }
        set {
            let id = ObjectIdentifier(key)
            first = HTTPContextValue(newValue, under: id, before: first?.without(id))
        }
    }

    var count: Int { first?.count ?? 0 }

    /// Whether nothing was set.
    public var isEmpty: Bool { first == nil }
}

/// A value in a context, and those that were there before it.
// `@unchecked Sendable`, since the compiler can't check what subclasses add: there is one, and it, too, has constants of
// sendable types alone.
@usableFromInline class HTTPContextEntry: @unchecked Sendable {
    @usableFromInline final let key: ObjectIdentifier
    @usableFromInline final let rest: HTTPContextEntry?

    @usableFromInline init(_ key: ObjectIdentifier, before rest: HTTPContextEntry?) {
        self.key = key
        self.rest = rest
    }

    @usableFromInline final func entry(of id: ObjectIdentifier) -> HTTPContextEntry? {
        if key == id { return self }
        guard let rest else { return nil }
        return rest.entry(of: id)
    }

    /// The entries but that of a key.
    @usableFromInline final func without(_ id: ObjectIdentifier) -> HTTPContextEntry? {
        guard entry(of: id) != nil else { return self }
        return key == id ? rest : copy(before: rest?.without(id))
    }

    final var count: Int { 1 + (rest?.count ?? 0) }

    /// The same value before others.
    @usableFromInline func copy(before rest: HTTPContextEntry?) -> HTTPContextEntry {
        preconditionFailure("An entry has a value.")
    }
}

@usableFromInline final class HTTPContextValue<Value: Sendable>: HTTPContextEntry, @unchecked Sendable {
    @usableFromInline let value: Value

    // Not inlinable: with library evolution, an inlinable initialiser of a class must delegate to another one.
    @usableFromInline init(_ value: Value, under key: ObjectIdentifier, before rest: HTTPContextEntry?) {
        self.value = value
        super.init(key, before: rest)
    }

    @usableFromInline override func copy(before rest: HTTPContextEntry?) -> HTTPContextEntry {
        HTTPContextValue(value, under: key, before: rest)
    }
}

/// An error with a context, as a response has one: so that what interceptors have to say about a call reaches the caller
/// when the call fails, too.
///
/// ```swift
/// do {
///     try await api.delete("/users/42")
/// } catch let error as any ContextualError {
///     print(error.context.attempts)
/// }
/// ```
public protocol ContextualError: Error {
    /// What is to be known about the failed call beyond the failure itself.
    var context: HTTPContext { get set }
}
