extension HTTPContext {
    private enum WishesKey: HTTPContextKey { static var defaultValue: [String: (role: String, text: String)] { [:] } }

    /// On a request: the names of values that an element of the chain must act on, with the id of the role of these elements, and a
    /// sentence for a chain without one. Kept in debug builds only.
    fileprivate var wishes: [String: (role: String, text: String)] {
        get { self[WishesKey.self] }
        set { self[WishesKey.self] = newValue }
    }

    /// Notes in debug builds that an element must act on a value, or takes the note back.
    ///
    /// - Parameters:
    ///   - name: the name of the value, such as `cacheMode`.
    ///   - isWished: whether the value asks for an element.
    ///   - role: the role of the elements that act on the value.
    ///   - remedy: code of an element that acts on the value.
    ///   - harm: the effect if no element acts on the value, as a sentence.
    package mutating func noteWish(
        _ name: String,
        if isWished: Bool,
        grantedBy role: ChainRole,
        _ remedy: String,
        harm: String
    ) {
        #if DEBUG
        guard isWished || wishes[name] != nil else { return }
        wishes[name] = isWished ? (role.id, "A request has a \(name). \(harm) Add \(remedy).") : nil
        #endif
    }
}

#if DEBUG
extension InterceptorChain {
    /// The wishes of a request that no element grants, as sentences. The list is empty if an element that isn't judged may
    /// grant them.
    func ungrantedWishes(of context: HTTPContext) -> [String] {
        let wishes = context.wishes.sorted { $0.key < $1.key }.map(\.value)
        if wishes.isEmpty { return [] }
        let elements = LintedChain(self).elements
        guard elements.allSatisfy(\.isJudged) else { return [] }
        return wishes.filter { wish in !elements.contains { $0.roles.contains(wish.role) } }.map {
            "\(ChainFinding.Severity.doubtful): \($0.text) (\(ChainRule.wishNotGranted): \(names))"
        }
    }
}
#endif
