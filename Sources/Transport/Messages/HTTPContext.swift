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
    @usableFromInline struct Entry: Sendable {
        @usableFromInline let key: ObjectIdentifier
        @usableFromInline var value: any Sendable

        @usableFromInline init(key: ObjectIdentifier, value: any Sendable) {
            self.key = key
            self.value = value
        }
    }

    // A handful of values at most: a search in a line beats hashing.
    @usableFromInline var entries: [Entry] = []

    /// A context without values.
    public init() {}

    // Inlined, the type of the value is known where it is asked for: that is done some thirty times for a request, and to
    // look the type up at run time takes longer than to find the value.
    /// The value under a key, its default where none was set.
    @inlinable public subscript<Key: HTTPContextKey>(key: Key.Type) -> Key.Value {
        get {
            guard let index = index(of: ObjectIdentifier(key)) else { return Key.defaultValue }
            return Self.value(of: entries[index].value, as: Key.Value.self) ?? Key.defaultValue
        }
        set {
            let id = ObjectIdentifier(key)
            if let index = index(of: id) {
                entries[index].value = newValue
            } else {
                entries.append(Entry(key: id, value: newValue))
            }
        }
    }

    /// What `as?` gives, without its search for conversions where the type is the very same: each request asks a few times.
    @inlinable @inline(__always)
    static func value<Stored: Sendable, Value>(of stored: Stored, as type: Value.Type) -> Value? {
        Stored.self == type ? unsafeBitCast(stored, to: type) : stored as? Value
    }

    // Looks at the keys alone: a closure for each entry would copy its value, too.
    @inlinable
    func index(of id: ObjectIdentifier) -> Int? {
        for index in entries.indices where entries[index].key == id { return index }
        return nil
    }

    var count: Int { entries.count }

    /// Whether nothing was set.
    public var isEmpty: Bool { entries.isEmpty }
}

/// An error with a context, as a response has one: so that what interceptors have to say about a call reaches the caller
/// when the call fails, too.
///
/// ```swift
/// catch let error as any ContextualError { print(error.context.attempts) }
/// ```
public protocol ContextualError: Error {
    /// What is to be known about the failed call beyond the failure itself.
    var context: HTTPContext { get set }
}
