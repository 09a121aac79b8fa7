public import Interceptors

/// A response as a ``CacheStore`` keeps it, without its body.
///
/// A store keeps every property and returns it unchanged; only the cache interprets them.
public struct CachedResponse: Sendable {
    // One reference: the cache copies an entry a dozen times per request, and each copy would retain every part.
    private final class Parts: Sendable {
        let status: HTTPResponse.Status
        let headerFields: HTTPFields
        let selectingFields: HTTPFields
        let initialAge: Int64
        let responseTime: Int64
        let needsValidation: Bool
        /// The parsed fields, if they have been parsed.
        let facts: ResponseFacts?

        init(
            _ status: HTTPResponse.Status,
            _ headerFields: HTTPFields,
            _ selectingFields: HTTPFields,
            _ initialAge: Int64,
            _ responseTime: Int64,
            _ needsValidation: Bool,
            _ facts: ResponseFacts?
        ) {
            self.status = status
            self.headerFields = headerFields
            self.selectingFields = selectingFields
            self.initialAge = initialAge
            self.responseTime = responseTime
            self.needsValidation = needsValidation
            self.facts = facts
        }
    }

    private var parts: Parts

    /// The status of the response.
    public var status: HTTPResponse.Status {
        get { parts.status }
        set { self = with(status: newValue, facts: parts.facts) }
    }
    /// The fields to store: without hop-by-hop fields and `Age`, and always with a `Date`.
    public var headerFields: HTTPFields {
        get { parts.headerFields }
        set { self = with(headerFields: newValue, facts: nil) }
    }
    /// The request fields that `Vary` names, one line each, with normalised values (RFC 9111 §4.1). A field with a sensitive
    /// name has a digest as its value (``CacheStore/digestKey()``).
    public var selectingFields: HTTPFields {
        get { parts.selectingFields }
        set { self = with(selectingFields: newValue, facts: parts.facts) }
    }
    /// The age of the response when it arrived, in seconds (`corrected_initial_age`, RFC 9111 §4.2.3).
    public var initialAge: Int64 {
        get { parts.initialAge }
        set { self = with(initialAge: newValue, facts: parts.facts) }
    }
    /// When the response arrived or was last validated, in seconds since 1970.
    public var responseTime: Int64 {
        get { parts.responseTime }
        set { self = with(responseTime: newValue, facts: nil) }
    }
    /// Whether the server must confirm the response before it is used, even if it looks fresh (RFC 9111 §4.3.5).
    public var needsValidation: Bool {
        get { parts.needsValidation }
        set { self = with(needsValidation: newValue, facts: parts.facts) }
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
        parts = Parts(status, headerFields, selectingFields, initialAge, responseTime, needsValidation, nil)
    }

    /// A response whose fields have been parsed.
    init(
        status: HTTPResponse.Status,
        headerFields: HTTPFields,
        selectingFields: HTTPFields,
        initialAge: Int64,
        responseTime: Int64,
        facts: ResponseFacts
    ) {
        parts = Parts(status, headerFields, selectingFields, initialAge, responseTime, false, facts)
    }

    private func with(
        status: HTTPResponse.Status? = nil,
        headerFields: HTTPFields? = nil,
        selectingFields: HTTPFields? = nil,
        initialAge: Int64? = nil,
        responseTime: Int64? = nil,
        needsValidation: Bool? = nil,
        facts: ResponseFacts?
    ) -> Self {
        var copy = self
        copy.parts = Parts(
            status ?? parts.status,
            headerFields ?? parts.headerFields,
            selectingFields ?? parts.selectingFields,
            initialAge ?? parts.initialAge,
            responseTime ?? parts.responseTime,
            needsValidation ?? parts.needsValidation,
            facts
        )
        return copy
    }

    /// The parsed fields: parsed at every call, unless ``read()`` has kept them.
    var facts: ResponseFacts { parts.facts ?? ResponseFacts(headerFields, now: responseTime) }

    /// A copy that keeps its parsed fields, so that further copies, such as a store's, needn't parse them again.
    func read() -> Self { parts.facts == nil ? with(facts: facts) : self }
}

extension CachedResponse: Hashable {
    /// Whether all stored properties are equal.
    public static func == (left: Self, right: Self) -> Bool {
        left.status == right.status && left.headerFields == right.headerFields
            && left.selectingFields == right.selectingFields && left.initialAge == right.initialAge
            && left.responseTime == right.responseTime && left.needsValidation == right.needsValidation
    }

    /// Hashes the stored properties that `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(status)
        hasher.combine(headerFields)
        hasher.combine(selectingFields)
        hasher.combine(initialAge)
        hasher.combine(responseTime)
        hasher.combine(needsValidation)
    }
}
