internal import Foundation

#if DEBUG
/// A rule: a severity, and the faults that break the rule.
struct ChainRuleDefinition: Sendable {
    let rule: ChainRule
    let severity: ChainFinding.Severity
    private(set) var faults: [Fault] = []

    /// An example of what goes wrong.
    var harm: String { faults.first?.harm ?? "" }

    /// A row of the table. In texts, marks stand for elements: the table explains them.
    struct Fault: Sendable {
        var harm = ""
        var message = "#1 is outside #2."
        var remedy = "[<2>, <1>]"
        fileprivate(set) var kind = ""
        /// The roles of each element.
        fileprivate(set) var roles: [[String]] = []
        fileprivate(set) var condition: String?
    }

    /// Takes over a line of the table.
    mutating func read(_ line: String) {
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        var fault = faults.last ?? Fault()
        switch words[0] {
        case "harm": fault.harm = words[1]
        case "says": fault.message = words[1]
        case "write": fault.remedy = words[1]
        default:
            let parts = words[1].components(separatedBy: " if ")
            (fault.kind, fault.condition) = (words[0], parts.dropFirst().first)
            fault.roles = parts[0].split(separator: ">", omittingEmptySubsequences: false).map {
                $0.split(separator: " ").map(String.init)
            }
            return faults.append(fault)
        }
        faults[faults.count - 1] = fault
    }
}

extension ChainRuleDefinition {
    /// A fault in one chain.
    struct Match {
        let chain: LintedChain
        /// The elements concerned, outermost first.
        var elements: [LintedChain.Element]
        var fault: Fault
        /// The text for the mark `*`.
        var detail = "*"
        /// By how many levels the severity is lower: 1 if the elements may never meet, for instance in different `.when` parts, or if a
        /// closure may prevent the harm; 2 if the author probably has a reason.
        var doubt = 0
        /// The element that does the harm, if its acknowledgement alone counts.
        var culprit: LintedChain.Element?

        var outer: LintedChain.Element { elements[0] }
        var inner: LintedChain.Element { elements[1] }
        var between: ArraySlice<LintedChain.Element> { chain.elements[outer.number..<(inner.number - 1)] }

        /// The reason that silences the match.
        func acknowledgement(of rule: ChainRule) -> String? {
            (culprit.map { [$0] } ?? elements).lazy.compactMap { $0.acknowledgements[rule.rawValue] }.first
        }

        fileprivate func filled(_ text: String) -> String {
            // In one pass, because a name and the detail may be an author's text.
            var (filled, rest) = ("", text[...])
            while let mark = rest.popFirst() {
                if mark == "*" {
                    filled += detail
                } else if "#@<".contains(mark), let number = rest.first?.wholeNumberValue,
                    elements.indices.contains(number - 1)
                {
                    let element = elements[number - 1]
                    filled += mark == "#" ? element.description : mark == "@" ? element.name : element.code
                    rest = rest.dropFirst(mark == "<" ? 2 : 1)
                } else {
                    filled.append(mark)
                }
            }
            return filled
        }
    }

    func matches(_ chain: LintedChain) -> [Match] { faults.flatMap { $0.matches(chain) } }

    /// The finding that reports a match.
    func finding(_ match: Match) -> ChainFinding {
        let doubtful = ChainFinding.Severity.allCases.drop { $0 != severity }.dropFirst(match.doubt)
        return ChainFinding(
            rule: rule,
            severity: doubtful.first ?? .note,
            elements: match.elements.map(\.name),
            message: match.filled(match.fault.message),
            harm: match.filled(match.fault.harm),
            remedy: match.filled(match.fault.remedy)
        )
    }
}

extension ChainRuleDefinition.Fault {
    fileprivate func matches(_ chain: LintedChain) -> [ChainRuleDefinition.Match] {
        let first = chain.elements.filter { $0.fits(roles[0]) }
        let found: [[LintedChain.Element]] =
            switch kind {
            case "missing": first.isEmpty ? [[]] : []
            case "alone": first.map { [$0] }
            default:
                first.flatMap { outer in
                    chain.elements[outer.number...].filter { $0.fits(roles[1]) }.map { [outer, $0] }
                }
            }
        return found.compactMap { elements in
            var match = ChainRuleDefinition.Match(chain: chain, elements: elements, fault: self)
            match.culprit = zip(elements, roles).first { $0.1.contains("!") }?.0
            if elements.count == 2 {
                let doubt = chain.doubt(that: match.outer, meets: match.inner)
                guard (doubt != nil) == (kind == "order") else { return nil }
                match.doubt = doubt ?? 1
            }
            let isFault = condition.flatMap { ChainRuleDefinition.conditions[$0] }
            return isFault?(&match) ?? true ? match : nil
        }
    }
}

extension LintedChain.Element {
    /// Whether the element has the roles of a row, and none that the row excludes.
    fileprivate func fits(_ words: [String]) -> Bool {
        words.allSatisfy { word in
            let isAbsent = word.hasPrefix("-")
            return word == "!" || self.roles.contains(isAbsent ? String(word.dropFirst()) : word) != isAbsent
        }
    }
}
#endif
