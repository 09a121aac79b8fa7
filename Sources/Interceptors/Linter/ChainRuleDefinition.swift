internal import Foundation

#if DEBUG
/// A rule: a severity, and the faults that break the rule.
struct ChainRuleDefinition: Sendable {
    let rule: ChainRule
    let severity: ChainFinding.Severity
    private(set) var faults: [Fault] = []

    /// An example of what goes wrong.
    var harm: String { faults.first?.harm ?? "" }

    /// Elements in the wrong order, or what a function finds. In texts, marks stand for elements: the table
    /// explains them.
    struct Fault: Sendable {
        var harm = ""
        var message = "#1 is outside #2."
        var remedy = "[<2>, <1>]"
        fileprivate(set) var kind = ""
        /// The roles of the outer and the inner element.
        fileprivate(set) var roles: [[String]] = []
        /// The name of a condition, or of the function that finds the fault.
        fileprivate(set) var function: String?
    }

    /// Takes over a line of the table.
    mutating func read(_ line: String) {
        let last = faults.count - 1
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        let (kind, text) = (words[0], words[1])
        switch kind {
        case "harm": faults[last].harm = text
        case "says": faults[last].message = text
        case "write": faults[last].remedy = text
        default:
            var fault = faults.last ?? Fault()
            let parts = text.components(separatedBy: " if ")
            fault.kind = kind
            fault.function = kind == "find" ? text : parts.dropFirst().first
            fault.roles = parts[0].components(separatedBy: " > ").map { $0.components(separatedBy: " ") }
            faults.append(fault)
        }
    }
}

extension ChainRuleDefinition {
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
        var fault: Fault
        /// The text for the mark `*`.
        var detail = "*"
        var doubt = Doubt.none
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
        let doubtful = ChainFinding.Severity.allCases.drop { $0 != severity }.dropFirst(match.doubt.rawValue)
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
        if kind == "find" { return function.flatMap { ChainRuleDefinition.finders[$0] }?(chain, self) ?? [] }
        return chain.elements.filter { $0.fits(roles[0]) }.flatMap { outer in
            chain.elements[outer.number...].filter { $0.fits(roles[1]) }.compactMap { inner in
                guard chain.meet(outer, inner) == (kind == "order") else { return nil }
                var match = chain.match(outer, inner, self)
                match.culprit = zip(match.elements, roles).first { $0.1.contains("!") }?.0
                let isFault = function.flatMap { ChainRuleDefinition.conditions[$0] }
                return isFault?(&match) ?? true ? match : nil
            }
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
