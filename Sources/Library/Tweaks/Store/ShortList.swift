// SPDX-License-Identifier: BSD-3-Clause
/// A list that stores its first element inline. Most changes concern one tweak.
struct ShortList<Element> {
    private var head: Element?
    private var rest: [Element] = []

    init() {}

    init(_ element: Element) { head = element }

    init(_ elements: some Sequence<Element>) { for element in elements { append(element) } }

    mutating func append(_ element: Element) {
        if head == nil { head = element } else { rest.append(element) }
    }

    mutating func reserveCapacity(_ count: Int) { if count > 1 { rest.reserveCapacity(count - 1) } }
}

extension ShortList {
    var count: Int { head == nil ? 0 : rest.count + 1 }

    subscript(index: Int) -> Element? {
        index == 0 ? head : rest.indices.contains(index - 1) ? rest[index - 1] : nil
    }

    /// Calls the body with each element and its index. Copying elements would cost more than most work on them.
    @inline(__always)
    func forEach<Failure>(_ body: (Int, Element) throws(Failure) -> Void) throws(Failure) {
        guard let head else { return }
        try body(0, head)
        for index in rest.indices { try body(index + 1, rest[index]) }
    }

    func compactMap<Result>(_ transform: (Element) -> Result?) -> [Result] {
        var results: [Result] = []
        forEach { if let result = transform($1) { results.append(result) } }
        return results
    }
}

extension ShortList: Sendable where Element: Sendable {}
