internal import InterceptorsTransport

/// The elements of a chain, with those of its groups and of chains that it contains, as the rules see them.
struct LintedChain {
    /// A part of a chain for some requests only.
    struct Part: Hashable {
        let number: Int
        /// The only origins of the part's requests; `nil` if any may be.
        let origins: Set<Origin>?
    }

    private(set) var elements: [Element] = []
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

    private mutating func add(_ interceptor: any Interceptor, in parts: [Part], _ outer: [String: String]) {
        var parts = parts
        let reasons = outer.merging((interceptor as? AnyInterceptor)?.acknowledgements ?? [:]) { $1 }
        guard let group = interceptor.unwrapped as? InterceptorGroup else {
            return elements.append(Element(interceptor.unwrapped, number: elements.count + 1, parts: parts, reasons))
        }
        if let condition = group.condition {
            partCount += 1
            parts.append(Part(number: partCount, origins: condition.origins))
        }
        for element in group.interceptors { add(element, in: parts, reasons) }
    }
}

extension LintedChain {
    /// An interceptor and its position. What its placement says is the element's too.
    ///
    /// A class, because each copy of a placement is much code.
    @dynamicMemberLookup
    final class Element: Sendable, CustomStringConvertible {
        /// The position, counted from 1.
        let number: Int
        let name: String
        /// Empty for an interceptor that doesn't declare its place, such as a closure.
        let placement: Placement
        let isJudged: Bool
        /// The conditional parts that contain the element, outermost first.
        let parts: [Part]
        /// The reasons for breaking rules, by the rule's name.
        let acknowledgements: [String: String]
        private let isClosure: Bool

        init(_ base: any Interceptor, number: Int, parts: [Part], _ acknowledgements: [String: String]) {
            self.number = number
            let placed = base as? any PlacedInterceptor
            (placement, isJudged) = (Placement(placed?.placement ?? []), placed != nil)
            name = placement.spelling ?? InterceptorChain.name(base)
            self.parts = parts
            self.acknowledgements = acknowledgements
            isClosure = base is ClosureInterceptor || base is PlacedClosureInterceptor
        }

        subscript<Value>(dynamicMember property: KeyPath<Placement, Value>) -> Value {
            placement[keyPath: property]
        }

        func has(_ role: ChainRole) -> Bool { placement.includes(role) }

        /// The element as messages name it.
        var description: String { "\(name) (\(number))" }

        /// The element as an array of interceptors contains it.
        var code: String {
            if isClosure { return !isJudged ? ".intercept { … }" : ".intercept(\"\(name)\", …) { … }" }
            return (name.first?.isLowercase == true ? "." : "") + "\(name)(\(self.settings ?? "…"))"
        }

        /// The element as a chain's description names it: marked if only some requests pass it, and with short settings.
        var title: String {
            let condition = parts.isEmpty ? "" : "when \(parts.map { "#\($0.number)" }.joined(separator: " ")): "
            return condition + name + (self.settings.map { "(\($0))" } ?? "")
        }
    }
}

#if DEBUG
extension LintedChain {
    /// How often two elements see the same request.
    enum Meeting: Comparable { case never, perhaps, always }

    /// Whether two elements see the same request: those of two conditional parts may not.
    func meeting(of one: Element, _ other: Element) -> Meeting {
        let (outer, inner) = one.number <= other.number ? (one, other) : (other, one)
        let meeting = outer.meeting(with: inner)
        if meeting > .never { return meeting }
        // A redirect that the outer part follows may lead to the origin of the inner part.
        let isRedirected = elements[(outer.number - 1)..<(inner.number - 1)].contains {
            $0.has(.followsRedirects) && outer.meeting(with: $0) > .never
        }
        return isRedirected ? .perhaps : .never
    }

    /// Whether two elements may see the same request.
    func meet(_ one: Element, _ other: Element) -> Bool { meeting(of: one, other) > .never }

    /// The elements with a role inside another element that they may meet.
    func elements(inside element: Element, with role: ChainRole) -> [Element] {
        elements[element.number...].filter { $0.has(role) && meet(element, $0) }
    }

    /// The elements with a role outside another element that they may meet.
    func elements(outside element: Element, with role: ChainRole) -> [Element] {
        elements[..<(element.number - 1)].filter { $0.has(role) && meet($0, element) }
    }

    /// A fault that needs both elements to see the same request.
    func match(_ outer: Element, _ inner: Element, _ fault: ChainRuleDefinition.Fault) -> ChainRuleDefinition.Match {
        let doubt: ChainRuleDefinition.Doubt = meeting(of: outer, inner) == .always ? .none : .some
        return ChainRuleDefinition.Match(chain: self, elements: [outer, inner], fault: fault, doubt: doubt)
    }
}

extension LintedChain.Element {
    /// Whether two elements see the same request, if no redirect leads from one to the other.
    fileprivate func meeting(with other: LintedChain.Element) -> LintedChain.Meeting {
        let shared = zip(parts, other.parts).prefix { $0 == $1 }.count
        let (left, right) = (parts.dropFirst(shared), other.parts.dropFirst(shared))
        // An element outside the other's part sees each of the part's requests.
        if left.isEmpty || right.isEmpty { return .always }
        let (origins, others) = (left.compactMap(\.origins), right.compactMap(\.origins))
        return origins.contains { others.contains(where: $0.isDisjoint) } ? .never : .perhaps
    }
}
#endif

extension InterceptorChain {
    /// Decides which fields of the chain's requests are never sent to another origin (`Redaction.isBoundToOrigin(_:)`).
    ///
    /// By the redaction of the outermost element that follows redirects, or the standard one, and by the fields that elements
    /// declare for their credentials.
    package var redirectRedaction: Redaction {
        let elements = LintedChain(self).elements
        let redaction = elements.first { $0.has(.followsRedirects) }?.redaction ?? .standard
        let names = elements.flatMap(\.secretFields).map(\.rawName)
        return names.isEmpty ? redaction : redaction.adding(names: names)
    }
}

extension [any Interceptor] {
    /// The fields that the elements, and those of groups, declare for their credentials, without those that always carry some.
    var credentialFields: [HTTPField.Name] {
        flatMap { interceptor in
            let interceptor = interceptor.unwrapped
            if let group = interceptor as? InterceptorGroup { return group.interceptors.credentialFields }
            let declared = Placement((interceptor as? any PlacedInterceptor)?.placement ?? [])
            return declared.secretFields.filter { !$0.carriesCredentials }
        }
    }
}
