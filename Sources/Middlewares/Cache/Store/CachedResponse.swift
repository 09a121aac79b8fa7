public import InterceptorsCore

/// A response as a ``CacheStore`` keeps it, without its body.
///
/// A store keeps every property and returns it unchanged; only the cache interprets them.
public struct CachedResponse: Sendable, Hashable {
    /// The status of the response.
    public var status: HTTPResponse.Status { didSet { parsed = nil } }
    /// The fields to store: without hop-by-hop fields and `Age`, and always with a `Date`.
    public var headers: HTTPFields { didSet { parsed = nil } }
    /// The request fields that `Vary` names, one line each (RFC 9111 §4.1). A field with a sensitive name has a digest
    /// as its value (``CacheStore/digestKey()``).
    public var selectingFields: HTTPFields
    /// The age of the response when it arrived, in seconds (`corrected_initial_age`, RFC 9111 §4.2.3).
    public var initialAge: Int64
    /// When the response arrived or was last validated, in seconds since 1970.
    public var responseTime: Int64 { didSet { parsed = nil } }
    /// Whether the server must confirm the response before it is used, even if it looks fresh (RFC 9111 §4.3.5).
    public var needsValidation: Bool
    /// The parsed fields, if they have been parsed.
    private var parsed: ResponseFacts?

    /// Creates a response from its stored properties, for instance when a store reads a file.
    public init(
        status: HTTPResponse.Status,
        headers: HTTPFields,
        selectingFields: HTTPFields = HTTPFields(),
        initialAge: Int64 = 0,
        responseTime: Int64,
        needsValidation: Bool = false
    ) {
        self.status = status
        self.headers = headers
        self.selectingFields = selectingFields
        self.initialAge = initialAge
        self.responseTime = responseTime
        self.needsValidation = needsValidation
    }

    /// The parsed fields: parsed at every call, unless ``parse()`` has kept them.
    var facts: ResponseFacts { parsed ?? ResponseFacts(self) }

    /// A copy that keeps its parsed fields, so that further copies, such as a store's, needn't parse them again.
    func parse() -> Self {
        var copy = self
        copy.parsed = facts
        return copy
    }

    /// Whether all stored properties are equal.
    public static func == (left: Self, right: Self) -> Bool {
        left.status == right.status && left.headers == right.headers
            && left.selectingFields == right.selectingFields && left.initialAge == right.initialAge
            && left.responseTime == right.responseTime && left.needsValidation == right.needsValidation
    }

    /// Hashes the properties that tell most responses apart.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(status)
        hasher.combine(headers)
        hasher.combine(responseTime)
    }
}
