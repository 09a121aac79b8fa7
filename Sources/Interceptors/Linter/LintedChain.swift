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
        private let base: any Interceptor
        /// The position, counted from 1.
        let number: Int
        /// Empty for an interceptor that doesn't declare its place, such as a closure.
        let placement: Placement
        /// The conditional parts that contain the element, outermost first.
        let parts: [Part]
        /// The reasons for breaking rules, by the rule's name.
        let acknowledgements: [String: String]

        init(_ base: any Interceptor, number: Int, parts: [Part], _ acknowledgements: [String: String]) {
            (self.base, self.number, self.parts, self.acknowledgements) = (base, number, parts, acknowledgements)
            placement = Placement(base)
        }

        var isJudged: Bool { base is any PlacedInterceptor }

        var name: String { self.spelling ?? InterceptorChain.name(base) }

        subscript<Value>(dynamicMember property: KeyPath<Placement, Value>) -> Value {
            placement[keyPath: property]
        }

        func has(_ role: ChainRole) -> Bool { placement.includes(role) }

        /// The element as messages name it.
        var description: String { "\(name) (\(number))" }

        /// The element as an array of interceptors contains it.
        var code: String {
            let isClosure = base is ClosureInterceptor || base is PlacedClosureInterceptor
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
    /// The doubt that two elements see the same request, as a rule's match counts it: 1 if they are in two conditional parts. `nil` if they
    /// never do.
    func doubt(that one: Element, meets other: Element) -> Int? {
        let (outer, inner) = one.number <= other.number ? (one, other) : (other, one)
        if let doubt = outer.doubt(of: inner) { return doubt }
        // A redirect that the outer part follows may lead to the origin of the inner part.
        let isRedirected = elements[(outer.number - 1)..<(inner.number - 1)].contains {
            $0.has(.followsRedirects) && outer.doubt(of: $0) != nil
        }
        return isRedirected ? 1 : nil
    }

    /// The elements with a role inside another element that they may meet.
    func elements(inside element: Element, with role: ChainRole) -> [Element] {
        elements[element.number...].filter { $0.has(role) && doubt(that: element, meets: $0) != nil }
    }

    /// The elements with a role outside another element that they may meet.
    func elements(outside element: Element, with role: ChainRole) -> [Element] {
        elements[..<(element.number - 1)].filter { $0.has(role) && doubt(that: $0, meets: element) != nil }
    }
}

extension LintedChain.Element {
    /// The doubt that another element sees the same request, if no redirect leads from one to the other.
    fileprivate func doubt(of other: LintedChain.Element) -> Int? {
        let shared = zip(parts, other.parts).prefix { $0 == $1 }.count
        let (left, right) = (parts.dropFirst(shared), other.parts.dropFirst(shared))
        // An element outside the other's part sees each of the part's requests.
        if left.isEmpty || right.isEmpty { return 0 }
        let (origins, others) = (left.compactMap(\.origins), right.compactMap(\.origins))
        return origins.contains { others.contains(where: $0.isDisjoint) } ? nil : 1
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
            return Placement(interceptor).secretFields.filter { !$0.carriesCredentials }
        }
    }
}
