/// The elements of a chain, with those of its groups and of chains that it contains, as the rules see them.
struct LintedChain {
    /// A part of a chain for some requests only.
    struct Part: Hashable {
        let number: Int
        /// The only origins of the part's requests; `nil` if any may be.
        let origins: Set<Origin>?
    }

    struct Element {
        /// The position, counted from 1.
        let number: Int
        let name: String
        /// `nil` for an interceptor that doesn't declare its place, such as a closure.
        let placement: Placement?
        /// The conditional parts that contain the element, outermost first.
        let parts: [Part]
        /// The reasons for breaking rules, by the rule's name.
        let acknowledgements: [String: Acknowledgement]
        /// Whether the element is a closure, with or without a placement.
        let isClosure: Bool

        func has(_ role: ChainRole) -> Bool { placement?.has(role) ?? false }

        /// The element as messages name it.
        var label: String { "\(name) (\(number))" }

        /// The element as an array of interceptors contains it.
        var code: String {
            if isClosure { return placement == nil ? ".intercept { … }" : ".intercept(\"\(name)\", …) { … }" }
            let settings = placement?.settings ?? "…"
            return name.first?.isLowercase == true ? ".\(name)(\(settings))" : "\(name)(\(settings))"
        }

        /// The name with the settings, as far as they are short.
        var title: String { placement?.settings.map { "\(name)(\($0))" } ?? name }
    }

    /// A reason for breaking a rule, which is for an element or for all elements of a part.
    struct Acknowledgement: Hashable {
        /// The position among the chain's acknowledgements.
        let index: Int
        let rule: String
        let reason: String
        /// The position of the element, or of the part's first element.
        let element: Int
    }

    private(set) var elements: [Element] = []
    private(set) var acknowledgements: [Acknowledgement] = []
    /// The name of the innermost transport.
    private(set) var transport = ""
    private var partCount = 0

    init(_ chain: InterceptorChain) {
        var chain = chain
        while true {
            for interceptor in chain.interceptors { add(interceptor, in: [], [:]) }
            guard let inner = (chain.transport as? any ChainedTransport)?.chain else { break }
            chain = inner
        }
        transport = "\(type(of: chain.transport))"
    }

    private mutating func add(_ interceptor: any Interceptor, in parts: [Part], _ outer: [String: Acknowledgement]) {
        var acknowledgements = outer
        let own = (interceptor as? AnyInterceptor)?.acknowledgements ?? [:]
        for (rule, reason) in own.sorted(by: { $0.key < $1.key }) {
            let (index, element) = (self.acknowledgements.count, elements.count + 1)
            let acknowledgement = Acknowledgement(index: index, rule: rule, reason: reason, element: element)
            self.acknowledgements.append(acknowledgement)
            acknowledgements[rule] = acknowledgement
        }
        let interceptor = interceptor.unwrapped
        guard let group = interceptor as? InterceptorGroup else {
            let placement = (interceptor as? any PlacedInterceptor)?.placement
            elements.append(
                Element(
                    number: elements.count + 1,
                    name: placement?.spelling ?? InterceptorChain.name(interceptor),
                    placement: placement,
                    parts: parts,
                    acknowledgements: acknowledgements,
                    isClosure: interceptor is ClosureInterceptor || interceptor is PlacedClosureInterceptor
                )
            )
            return
        }
        var parts = parts
        if let condition = group.condition {
            partCount += 1
            parts.append(Part(number: partCount, origins: condition.origins))
        }
        for element in group.interceptors { add(element, in: parts, acknowledgements) }
    }
}

extension LintedChain {
    /// How often two elements see the same request.
    enum Meeting: Comparable { case never, perhaps, always }

    /// Whether two elements see the same request: those of two conditional parts may not.
    func meeting(of outer: Element, _ inner: Element) -> Meeting {
        guard outer.number <= inner.number else { return meeting(of: inner, outer) }
        guard Self.meeting(of: outer, inner) == .never else { return Self.meeting(of: outer, inner) }
        // A redirect that the outer part follows may lead to the origin of the inner part.
        let isRedirected = elements[(outer.number - 1)..<(inner.number - 1)].contains {
            $0.has(.followsRedirects) && Self.meeting(of: outer, $0) > .never
        }
        return isRedirected ? .perhaps : .never
    }

    /// The doubt about a fault that needs both elements to see the same request.
    func doubt(about outer: Element, _ inner: Element) -> ChainRuleDefinition.Doubt {
        meeting(of: outer, inner) == .always ? .none : .some
    }

    private static func meeting(of one: Element, _ other: Element) -> Meeting {
        let shared = zip(one.parts, other.parts).prefix { $0 == $1 }.count
        let (left, right) = (one.parts.dropFirst(shared), other.parts.dropFirst(shared))
        // An element outside the other's part sees each of the part's requests.
        if left.isEmpty || right.isEmpty { return .always }
        for part in left {
            for second in right {
                if let first = part.origins, let second = second.origins, first.isDisjoint(with: second) {
                    return .never
                }
            }
        }
        return .perhaps
    }

    /// The elements with a role inside another element that they may meet.
    func elements(inside element: Element, with role: ChainRole) -> [Element] {
        elements[element.number...].filter { $0.has(role) && meeting(of: element, $0) > .never }
    }

    /// The elements with a role outside another element that they may meet.
    func elements(outside element: Element, with role: ChainRole) -> [Element] {
        elements[..<(element.number - 1)].filter { $0.has(role) && meeting(of: $0, element) > .never }
    }

    /// The elements between two others.
    func elements(between outer: Element, and inner: Element) -> ArraySlice<Element> {
        elements[outer.number..<(inner.number - 1)]
    }

    /// Whether an element that says nothing about itself is outside another.
    func isUnjudged(outside element: Element) -> Bool {
        elements[..<(element.number - 1)].contains { $0.placement == nil }
    }

    /// Whether a closure or an element that says nothing about itself, inside another, may add a credential.
    func mayAddCredentials(inside element: Element) -> Bool {
        elements[element.number...].contains { $0.placement == nil || $0.has(.mayAddCredentials) }
    }
}

extension InterceptorChain {
    /// The faults in this chain's order and settings that are broken or doubtful, worst first.
    ///
    /// ```swift
    /// #expect(api.chain.findings.isEmpty)
    /// ```
    /// Groups, `.when` parts and nested chains are judged too. Elements that don't declare their place (``PlacedInterceptor``),
    /// such as closures, are not judged. ``Interceptor/acknowledged(_:_:)`` silences a rule for one element.
    ///
    /// In debug builds, a ``Client`` also writes these findings to standard error when it is made, each once per process. Set
    /// the environment variable `INTERCEPTORS_FINDINGS` to `off` to prevent this.
    public var findings: [ChainFinding] { ChainReport(self).findings.filter { $0.severity != .note } }

    /// Facts about this chain that are often intended, such as that nothing follows redirects.
    public var notes: [ChainFinding] { ChainReport(self).findings.filter { $0.severity == .note } }
}

/// The findings of all rules, and those that were acknowledged.
struct ChainReport {
    let chain: LintedChain
    private(set) var findings: [ChainFinding] = []
    private(set) var acknowledged: [(finding: ChainFinding, reason: String)] = []
    /// The positions of the elements of each finding.
    private var reported: Set<[Int]> = []

    init(_ chain: InterceptorChain) {
        self.chain = LintedChain(chain)
        for definition in ChainRuleDefinition.all {
            for match in definition.matches(self.chain) { add(match, definition) }
        }
        // Stable by rule within a severity.
        findings = ChainFinding.Severity.allCases.flatMap { severity in findings.filter { $0.severity == severity } }
    }

    private mutating func add(_ match: ChainRuleDefinition.Match, _ definition: ChainRuleDefinition) {
        let finding = definition.finding(match)
        // A rule reports the pair already, with the harm.
        let pair = match.elements.map(\.number)
        if definition.rule == .placement, !reported.insert(pair).inserted { return }
        reported.insert(pair)
        if let acknowledgement = match.acknowledgement(of: definition.rule) {
            return acknowledged.append((finding, acknowledgement.reason))
        }
        findings.append(finding)
    }
}
