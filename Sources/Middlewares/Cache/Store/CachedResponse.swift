public import Interceptors

/// A response as a ``CacheStore`` keeps it, without its body.
///
/// A store keeps every part and gives it back as it was; what the parts mean is the cache's affair.
public struct CachedResponse: Sendable {
    /// The status.
    public var status: HTTPResponse.Status
    /// The fields to be kept: without hop-by-hop fields and `Age`, always with a `Date`.
    public var headerFields: HTTPFields { didSet { knownFacts = nil } }
    /// The request fields that `Vary` names, as they were, one line each, normalised (RFC 9111 §4.1).
    public var selectingFields: HTTPFields
    /// The age that the response had when it arrived, in seconds (`corrected_initial_age`, RFC 9111 §4.2.3).
    public var initialAge: Int64
    /// When it arrived, or was last validated, in seconds since 1970.
    public var responseTime: Int64 { didSet { knownFacts = nil } }
    /// Whether it must be validated before it is used, however fresh it looks (RFC 9111 §4.3.5).
    public var needsValidation: Bool

    private var knownFacts: ResponseFacts?

    /// A response to be kept.
    public init(
        status: HTTPResponse.Status,
        headerFields: HTTPFields,
        selectingFields: HTTPFields = HTTPFields(),
        initialAge: Int64 = 0,
        responseTime: Int64,
        needsValidation: Bool = false
    ) {
        self.status = status
        self.headerFields = headerFields
        self.selectingFields = selectingFields
        self.initialAge = initialAge
        self.responseTime = responseTime
        self.needsValidation = needsValidation
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
        self.init(
            status: status,
            headerFields: headerFields,
            selectingFields: selectingFields,
            initialAge: initialAge,
            responseTime: responseTime
        )
        knownFacts = facts
    }

    /// What the fields say.
    var facts: ResponseFacts { knownFacts ?? ResponseFacts(headerFields, now: responseTime) }

    /// The same with its fields read: every copy knows what they say, those in a store too.
    func read() -> Self {
        if knownFacts != nil { return self }
        var copy = self
        copy.knownFacts = facts
        return copy
    }
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
