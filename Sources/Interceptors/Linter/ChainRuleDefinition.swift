/// A rule as a row: two roles in the wrong order, and the harm. A function finds a fault that isn't an order of two roles.
struct ChainRuleDefinition: Sendable {
    /// A reason why a match may be no fault. Each lowers the severity: a broken order becomes doubtful, a doubtful one a note.
    enum Doubt: Int {
        case none
        /// The elements may never meet, for instance in different `.when` parts, or a closure may prevent the harm.
        case some
        /// The author probably has a reason.
        case strong
    }

    /// A fault in one chain.
    struct Match {
        let chain: LintedChain
        /// The elements concerned, outermost first.
        var elements: [LintedChain.Element] = []
        /// The fault as a sentence; by default, that the first element is outside the second.
        var message: String?
        /// By default the harm of the rule.
        var harm: String?
        /// By default the two elements in the opposite order.
        var remedy: String?
        var doubt = Doubt.none
        /// The element that does the harm, if its acknowledgement alone counts: one acknowledged credential excuses no other.
        var culprit: LintedChain.Element?

        var outer: LintedChain.Element { elements[0] }
        var inner: LintedChain.Element { elements[1] }
        var between: ArraySlice<LintedChain.Element> { chain.elements[outer.number..<(inner.number - 1)] }
        /// Whether both elements have the credential of the same object.
        var isOfSameObject: Bool { outer.isOfSameObject(as: inner) }

        /// The acknowledgement that silences the match.
        func acknowledgement(of rule: ChainRule) -> LintedChain.Acknowledgement? {
            (culprit.map { [$0] } ?? elements).lazy.compactMap { $0.acknowledgements[rule.rawValue] }.first
        }
    }

    let rule: ChainRule
    let severity: ChainFinding.Severity
    /// An example of what goes wrong.
    let harm: String
    let matches: @Sendable (LintedChain) -> [Match]

    /// A rule about faults that a function finds.
    init(
        _ rule: ChainRule,
        _ severity: ChainFinding.Severity,
        harm: String = "",
        _ matches: @escaping @Sendable (LintedChain) -> [Match]
    ) {
        (self.rule, self.severity, self.harm, self.matches) = (rule, severity, harm, matches)
    }

    /// A rule about elements with a role that are outside elements with another role.
    init(_ rule: ChainRule, _ severity: ChainFinding.Severity, _ outer: ChainRole, outside inner: ChainRole) {
        self.init(rule, severity) { $0.pairs(outer, outside: inner) }
    }

    /// The row with an example of what goes wrong, as a sentence.
    func harm(_ harm: String) -> Self { Self(rule, severity, harm: harm, matches) }

    /// The row without the matches that aren't faults. The function may explain a fault by another message or remedy.
    func only(if isFault: @escaping @Sendable (inout Match) -> Bool) -> Self {
        Self(rule, severity, harm: harm) { [matches] in matches($0).only(if: isFault) }
    }

    /// The row with changed matches: another message or remedy, or a doubt.
    func with(_ change: @escaping @Sendable (inout Match) -> Void) -> Self {
        only { match in
            change(&match)
            return true
        }
    }

    /// The row with further matches.
    func and(_ others: @escaping @Sendable (LintedChain) -> [Match]) -> Self {
        Self(rule, severity, harm: harm) { [matches] in matches($0) + others($0) }
    }

    /// The finding that reports a match.
    func finding(_ match: Match) -> ChainFinding {
        let order = "[\(match.elements.reversed().map(\.code).joined(separator: ", "))]"
        let doubtful = ChainFinding.Severity.allCases.drop { $0 != severity }.dropFirst(match.doubt.rawValue)
        return ChainFinding(
            rule: rule,
            severity: doubtful.first ?? .note,
            elements: match.elements.map(\.name),
            message: match.message ?? "\(match.elements.map(\.description).joined(separator: " is outside ")).",
            harm: match.harm ?? harm,
            remedy: match.remedy ?? order
        )
    }
}

extension [ChainRuleDefinition.Match] {
    /// The matches that are faults, as the function explains them.
    func only(if isFault: (inout Element) -> Bool) -> Self {
        compactMap { match in
            var match = match
            return isFault(&match) ? match : nil
        }
    }
}
