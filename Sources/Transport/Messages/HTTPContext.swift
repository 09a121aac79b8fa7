/// The key of one value in an ``HTTPContext``.
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
    /// The type of the value.
    associatedtype Value: Sendable
    /// The value of a context in which none was set.
    static var defaultValue: Value { get }
}

/// Values under typed keys that accompany a request or a response without being sent.
///
/// Interceptors, transports and callers exchange information through contexts. An empty context allocates nothing.
public struct HTTPContext: Sendable {
    // A linked list, newest value first: contexts hold few values, and a linear search beats hashing. Entries never change, so
    // adding a value to a copy shares all other entries. Interceptors copy and extend contexts often.
    @usableFromInline var first: HTTPContextEntry?

    /// Creates an empty context.
    public init() {}

    // Inlined, so that the value's type is known statically. A request makes some thirty lookups, and finding the type at run
    // time takes longer than finding the value.
    /// The value under a key, or the key's default if none was set.
    @inlinable public subscript<Key: HTTPContextKey>(key: Key.Type) -> Key.Value {
        get {
            // A key has one value type, unless two modules declare different types for it.
            let id = ObjectIdentifier(key)
            guard let first, first.mayHold(id), let entry = first.entry(of: id),
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

    /// Whether no value was set.
    public var isEmpty: Bool { first == nil }

    /// A context with one value: `api.get("/films", context: .with(\.cacheMode, .revalidate))`.
    public static func with<Value>(_ property: WritableKeyPath<HTTPContext, Value>, _ value: Value) -> HTTPContext {
        HTTPContext().with(property, value)
    }

    /// A copy with another value, for several: `.with(\.cacheMode, .revalidate).with(\.timeouts, limits)`.
    public func with<Value>(_ property: WritableKeyPath<HTTPContext, Value>, _ value: Value) -> HTTPContext {
        var context = self
        context[keyPath: property] = value
        return context
    }
}

/// One value of a context, followed by the older entries.
// `@unchecked Sendable` is safe although the compiler can't check subclasses: the only one is in this file, and both classes
// hold only `let` constants of `Sendable` types.
@usableFromInline class HTTPContextEntry: @unchecked Sendable {
    @usableFromInline final let key: ObjectIdentifier
    @usableFromInline final let rest: HTTPContextEntry?
    /// A bit for each key of this list. Most lookups are of keys without a value: their bit is clear, so they don't walk the
    /// list, which takes two atomic operations per entry.
    @usableFromInline final let bits: UInt64

    @usableFromInline init(_ key: ObjectIdentifier, before rest: HTTPContextEntry?) {
        self.key = key
        self.rest = rest
        bits = Self.bit(of: key) | (rest?.bits ?? 0)
    }

    @inlinable static func bit(of id: ObjectIdentifier) -> UInt64 {
        // Multiplied by the golden ratio, because the identifiers are neighbouring addresses.
        let hash = UInt64(truncatingIfNeeded: UInt(bitPattern: id)) &* 0x9E37_79B9_7F4A_7C15
        return 1 &<< (hash &>> 58)
    }

    /// Whether the list may hold a value for a key; `false` is certain.
    @inlinable final func mayHold(_ id: ObjectIdentifier) -> Bool { bits & Self.bit(of: id) != 0 }

    @usableFromInline final func entry(of id: ObjectIdentifier) -> HTTPContextEntry? {
        if key == id { return self }
        guard let rest else { return nil }
        return rest.entry(of: id)
    }

    /// This list without the entry of a key.
    @usableFromInline final func without(_ id: ObjectIdentifier) -> HTTPContextEntry? {
        guard mayHold(id), entry(of: id) != nil else { return self }
        return key == id ? rest : copy(before: rest?.without(id))
    }

    final var count: Int { 1 + (rest?.count ?? 0) }

    /// The sentence that the value adds to the description of an error, if any.
    @usableFromInline var note: String? { nil }

    /// A copy of this entry in front of another list.
    @usableFromInline func copy(before rest: HTTPContextEntry?) -> HTTPContextEntry {
        preconditionFailure("An entry has a value.")
    }
}

@usableFromInline final class HTTPContextValue<Value: Sendable>: HTTPContextEntry, @unchecked Sendable {
    @usableFromInline let value: Value

    // Not inlinable, because library evolution requires an inlinable class initializer to delegate to another one.
    @usableFromInline init(_ value: Value, under key: ObjectIdentifier, before rest: HTTPContextEntry?) {
        self.value = value
        super.init(key, before: rest)
    }

    @usableFromInline override var note: String? { (value as? any ContextNote)?.note }

    @usableFromInline override func copy(before rest: HTTPContextEntry?) -> HTTPContextEntry {
        HTTPContextValue(value, under: key, before: rest)
    }
}
