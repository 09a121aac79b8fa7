/// A list that nearly always has zero or one element, which need no heap allocation.
struct Few<Element: Sendable>: Sendable {
    private var one: Element?
    private var others: [Element] = []

    var isEmpty: Bool { one == nil }

    mutating func append(_ element: Element) {
        if one == nil { one = element } else { others.append(element) }
    }

    func first(where isWanted: (Element) -> Bool) -> Element? {
        if let one, isWanted(one) { return one }
        return others.isEmpty ? nil : others.first(where: isWanted)
    }
}
