public import InterceptorsCore

/// A response as a ``CacheStore`` keeps it, without its body.
///
/// A store keeps every property and returns it unchanged; only the cache interprets them.
public struct CachedResponse: Sendable, Hashable {
    private struct Values: Sendable, Hashable {
        var status: HTTPResponse.Status
        var headerFields: HTTPFields
        var selectingFields: HTTPFields
        var initialAge: Int64
        var responseTime: Int64
        var needsValidation: Bool
    }

    // One reference, because the cache copies an entry a dozen times per request. Copying each value would take 0.4 µs more, of
    // the 2 µs that a hit from memory may take.
    private final class Box: Sendable {
        let values: Values
        /// The parsed fields, if they have been parsed.
        let facts: ResponseFacts?

        init(_ values: Values, _ facts: ResponseFacts?) {
            self.values = values
            self.facts = facts
        }
    }

    private var box: Box

    /// The status of the response.
    public var status: HTTPResponse.Status {
        get { box.values.status }
        set { change { $0.status = newValue } }
    }
    /// The fields to store: without hop-by-hop fields and `Age`, and always with a `Date`.
    public var headerFields: HTTPFields {
        get { box.values.headerFields }
        set { change { $0.headerFields = newValue } }
    }
    /// The request fields that `Vary` names, one line each, with normalised values (RFC 9111 §4.1). A field with a sensitive
    /// name has a digest as its value (``CacheStore/digestKey()``).
    public var selectingFields: HTTPFields {
        get { box.values.selectingFields }
        set { change { $0.selectingFields = newValue } }
    }
    /// The age of the response when it arrived, in seconds (`corrected_initial_age`, RFC 9111 §4.2.3).
    public var initialAge: Int64 {
        get { box.values.initialAge }
        set { change { $0.initialAge = newValue } }
    }
    /// When the response arrived or was last validated, in seconds since 1970.
    public var responseTime: Int64 {
        get { box.values.responseTime }
        set { change { $0.responseTime = newValue } }
    }
    /// Whether the server must confirm the response before it is used, even if it looks fresh (RFC 9111 §4.3.5).
    public var needsValidation: Bool {
        get { box.values.needsValidation }
        set { change { $0.needsValidation = newValue } }
    }

    private mutating func change(_ change: (inout Values) -> Void) {
        var values = box.values
        change(&values)
        box = Box(values, nil)
    }

    /// Creates a response from its stored properties, for instance when a store reads a file.
    public init(
        status: HTTPResponse.Status,
        headerFields: HTTPFields,
        selectingFields: HTTPFields = HTTPFields(),
        initialAge: Int64 = 0,
        responseTime: Int64,
        needsValidation: Bool = false
    ) {
        let values = Values(
            status: status,
            headerFields: headerFields,
            selectingFields: selectingFields,
            initialAge: initialAge,
            responseTime: responseTime,
            needsValidation: needsValidation
        )
        box = Box(values, nil)
    }

    /// The parsed fields: parsed at every call, unless ``parse(_:)`` has kept them.
    var facts: ResponseFacts { box.facts ?? ResponseFacts(headerFields, now: responseTime) }

    /// A copy that keeps its parsed fields, so that further copies, such as a store's, needn't parse them again.
    ///
    /// - Parameter facts: the parsed fields, if they have been parsed before.
    func parse(_ facts: ResponseFacts? = nil) -> Self {
        if facts == nil, box.facts != nil { return self }
        var copy = self
        copy.box = Box(box.values, facts ?? self.facts)
        return copy
    }

    /// Whether all stored properties are equal.
    public static func == (left: Self, right: Self) -> Bool { left.box.values == right.box.values }

    /// Hashes the stored properties.
    public func hash(into hasher: inout Hasher) { hasher.combine(box.values) }
}
