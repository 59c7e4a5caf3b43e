/// What waits in the order of its coming.
struct FirstInFirstOut<Element> {
    private var elements: [Element] = []
    /// How many are taken out already. They are removed together, since removing the first one moves all.
    private var taken = 0

    var isEmpty: Bool { taken == elements.count }
    var count: Int { elements.count - taken }
    // `taken` is never more than the number of elements.
    var first: Element? { isEmpty ? nil : elements[taken] }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popFirst() -> Element? {
        guard let first else { return nil }
        taken += 1
        if taken == elements.count || taken == 1000 {
            elements.removeFirst(taken)
            taken = 0
        }
        return first
    }

    mutating func removeAll(where isUnwanted: (Element) -> Bool) {
        elements = elements[taken...].filter { !isUnwanted($0) }
        taken = 0
    }
}

extension FirstInFirstOut: Sendable where Element: Sendable {}
