/// The reason for a decision of an interceptor, in a ``Journal``.
public struct JournalNote: Sendable, Hashable, Codable {
    /// The kind of decision, such as `retry` or `cacheHit`: a short word in lower camel case that stays the same.
    public let decision: String
    /// A sentence or phrase for a person, such as `again after 2 s, because the status was 503`. Never a secret.
    public let text: String
    /// The number of another call in the same journal that the decision refers to, such as the one whose response is shared.
    public let callID: Int?

    public init(_ decision: String, _ text: String, callID: Int? = nil) {
        self.decision = decision
        self.text = text
        self.callID = callID
    }
}
