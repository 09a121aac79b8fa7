public import Interceptors

/// A response as a ``CacheStore`` keeps it, without its body.
///
/// A store keeps every part and gives it back as it was; what the parts mean is the cache's affair.
public struct CachedResponse: Sendable {
    // One reference: an entry is looked at a dozen times for each request, and its parts would be held anew each time.
    private final class Parts: Sendable {
        let status: HTTPResponse.Status
        let headerFields: HTTPFields
        let selectingFields: HTTPFields
        let initialAge: Int64
        let responseTime: Int64
        let needsValidation: Bool
        /// What the fields say, if they have been read.
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

    /// The status.
    public var status: HTTPResponse.Status {
        get { parts.status }
        set { self = with(status: newValue, facts: parts.facts) }
    }
    /// The fields to be kept: without hop-by-hop fields and `Age`, always with a `Date`.
    public var headerFields: HTTPFields {
        get { parts.headerFields }
        set { self = with(headerFields: newValue, facts: nil) }
    }
    /// The request fields that `Vary` names, as they were, one line each, normalised (RFC 9111 §4.1); of those with a
    /// sensitive name the digest (``CacheStore/digestKey()``).
    public var selectingFields: HTTPFields {
        get { parts.selectingFields }
        set { self = with(selectingFields: newValue, facts: parts.facts) }
    }
    /// The age that the response had when it arrived, in seconds (`corrected_initial_age`, RFC 9111 §4.2.3).
    public var initialAge: Int64 {
        get { parts.initialAge }
        set { self = with(initialAge: newValue, facts: parts.facts) }
    }
    /// When it arrived, or was last validated, in seconds since 1970.
    public var responseTime: Int64 {
        get { parts.responseTime }
        set { self = with(responseTime: newValue, facts: nil) }
    }
    /// Whether it must be validated before it is used, however fresh it looks (RFC 9111 §4.3.5).
    public var needsValidation: Bool {
        get { parts.needsValidation }
        set { self = with(needsValidation: newValue, facts: parts.facts) }
    }

    /// A response to be kept.
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

    /// A response whose fields have been read.
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

    /// What the fields say.
    var facts: ResponseFacts { parts.facts ?? ResponseFacts(headerFields, now: responseTime) }

    /// The same with its fields read: every copy knows what they say, those in a store too.
    func read() -> Self { parts.facts == nil ? with(facts: facts) : self }
}

extension CachedResponse: Hashable {
    /// Whether every part is the same.
    public static func == (left: Self, right: Self) -> Bool {
        left.status == right.status && left.headerFields == right.headerFields
            && left.selectingFields == right.selectingFields && left.initialAge == right.initialAge
            && left.responseTime == right.responseTime && left.needsValidation == right.needsValidation
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(status)
        hasher.combine(headerFields)
        hasher.combine(selectingFields)
        hasher.combine(initialAge)
        hasher.combine(responseTime)
        hasher.combine(needsValidation)
    }
}
