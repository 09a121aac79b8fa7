package import InterceptorsTransport

extension Client {
    /// The redactions that say which fields are credentials: the standard one, those of the chain's elements and that of its observer.
    ///
    /// A name counts as secret if any of them says so, because a field that a log hides must not go to another origin.
    package var redactions: [Redaction] {
        let elements = LintedChain(chain).elements.compactMap { $0.redaction }
        return [.standard] + elements + [chain.observer?.redaction].compactMap { $0 }
    }
}
