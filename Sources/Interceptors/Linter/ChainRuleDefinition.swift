/// One rule: how to find a fault in a chain, and how to explain it.
struct ChainRuleDefinition: Sendable {
    /// The reason why a match may be no fault.
    enum Doubt {
        case none
        /// The elements may never meet, for instance in different `.when` parts, or a closure may prevent the harm.
        case some
        /// The author probably has a reason.
        case strong
    }

    /// A fault in one chain.
    struct Match {
        /// The elements concerned, outermost first.
        var elements: [LintedChain.Element] = []
        /// The fault as a sentence; by default, that the first element is outside the second.
        var message: String?
        var harm: String?
        /// By default the two elements in the opposite order.
        var remedy: String?
        var doubt = Doubt.none
        /// The element that does the harm, if its acknowledgement alone counts: one acknowledged credential excuses no other.
        var culprit: LintedChain.Element?

        /// The acknowledgement that silences the match.
        func acknowledgement(of rule: ChainRule) -> LintedChain.Acknowledgement? {
            (culprit.map { [$0] } ?? elements).lazy.compactMap { $0.acknowledgements[rule.rawValue] }.first
        }
    }

    let rule: ChainRule
    let severity: ChainFinding.Severity
    /// An example of the harm.
    let harm: String
    /// A wrong chain, and the right one, as code for the documentation.
    let wrong: String
    let right: String
    let matches: @Sendable (LintedChain) -> [Match]

    /// Creates a rule.
    ///
    /// - Parameters:
    ///   - wrong: a wrong chain, as code.
    ///   - right: the right chain, as code.
    ///   - harm: what goes wrong, as an example.
    init(
        _ rule: ChainRule,
        _ severity: ChainFinding.Severity,
        wrong: String,
        right: String,
        harm: String,
        matches: @escaping @Sendable (LintedChain) -> [Match]
    ) {
        self.rule = rule
        self.severity = severity
        self.wrong = wrong
        self.right = right
        self.harm = harm
        self.matches = matches
    }

    func finding(_ match: Match) -> ChainFinding {
        let labels = match.elements.map(\.label)
        let order = "[\(match.elements.reversed().map(\.code).joined(separator: ", "))]"
        return ChainFinding(
            rule: rule,
            severity: severity(match.doubt),
            elements: match.elements.map(\.name),
            message: match.message ?? "\(labels.joined(separator: " is outside ")).",
            harm: match.harm ?? harm,
            remedy: match.remedy ?? order
        )
    }

    private func severity(_ doubt: Doubt) -> ChainFinding.Severity {
        switch doubt {
        case .none: severity
        case .some: severity == .broken ? .doubtful : .note
        case .strong: .note
        }
    }

    /// Matches of two elements of which the outer one is enough.
    static func oneIsEnough(_ matches: [Match]) -> [Match] {
        matches.map { match in
            var match = match
            match.remedy = "only one of them: [\(match.elements[0].code)]"
            return match
        }
    }

    /// All pairs of an outer and an inner element with these roles.
    static func pairs(
        _ outer: ChainRole,
        outside inner: ChainRole,
        where isFault: @escaping @Sendable (LintedChain.Element, LintedChain.Element, LintedChain) -> Bool = {
            _,
            _,
            _ in
            true
        }
    ) -> @Sendable (LintedChain) -> [Match] {
        { chain in
            var matches: [Match] = []
            for element in chain.elements where element.has(outer) {
                for other in chain.elements(inside: element, with: inner) where isFault(element, other, chain) {
                    matches.append(Match(elements: [element, other], doubt: chain.doubt(about: element, other)))
                }
            }
            return matches
        }
    }
}

extension ChainRuleDefinition {
    /// Every rule that judges a chain, in the documentation's order.
    static let all = identity + signing + resending + limits + responses + logs + settings
}
