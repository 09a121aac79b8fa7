/// A value in a request's context that has an effect only if an element of the chain acts on it. Kept in debug builds only.
struct ChainWish: Sendable, Hashable {
    let name: String
    /// The id of the role of the elements that act on the value.
    let role: String
    let harm: String
    let remedy: String
}

extension HTTPContext {
    private enum WishesKey: HTTPContextKey { static var defaultValue: Set<ChainWish> { [] } }

    /// On a request: the values that an element of the chain must act on.
    var wishes: Set<ChainWish> {
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
        let wish = ChainWish(name: name, role: role.id, harm: harm, remedy: remedy)
        if isWished { wishes.insert(wish) } else if wishes.contains(wish) { wishes.remove(wish) }
        #endif
    }
}

#if DEBUG
extension InterceptorChain {
    /// The wishes of a request that no element grants, as sentences. The list is empty if an element that isn't judged may
    /// grant them.
    func ungrantedWishes(of context: HTTPContext) -> [String] {
        let wishes = context.wishes
        if wishes.isEmpty { return [] }
        let elements = LintedChain(self).elements
        guard !elements.contains(where: { !$0.isJudged }) else { return [] }
        let ungranted = wishes.filter { wish in !elements.contains { $0.roles.contains(wish.role) } }
        return ungranted.sorted { $0.name < $1.name }.map {
            "\(ChainFinding.Severity.doubtful): A request has a \($0.name). \($0.harm)"
                + " Add \($0.remedy). (\(ChainRule.wishNotGranted): \(names))"
        }
    }
}
#endif
