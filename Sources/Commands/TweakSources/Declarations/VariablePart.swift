// SPDX-License-Identifier: BSD-3-Clause
/// The name of a variable as debug information has it, such as `game::Physics::gravity` or `physics.c:pid.gains[2]`.
struct VariablePart {
    /// A step from a variable, or a part of it, to one of its parts.
    enum Step: Equatable {
        case member(String)
        case element(Int)

        var isMember: Bool { if case .member = self { true } else { false } }

        var text: String {
            switch self {
            case .member(let name): ".\(name)"
            case .element(let index): "[\(index)]"
            }
        }
    }

    /// The name of the variable without scopes.
    let variable: String
    /// The steps from the variable to its part; empty for the whole variable.
    let steps: [Step]

    /// - Returns: `nil` if a step has no name, as in an unnamed union.
    init?(_ name: String, _ language: SourceLanguage) {
        let plain = name.split(separator: ":").last ?? ""
        guard language == .c else {
            // The scopes in Swift are written like members.
            (variable, steps) = (plain.split(separator: ".").last.map(String.init) ?? "", [])
            return
        }
        var rest = plain
        func take() -> String {
            let taken = rest.prefix { $0 != "." && $0 != "[" && $0 != "]" }
            rest = rest.dropFirst(taken.count)
            return String(taken)
        }
        variable = take()
        var steps: [Step] = []
        while let first = rest.popFirst() {
            let text = take()
            if first == ".", text.utf8.first?.beginsName == true, text.utf8.allSatisfy(\.continuesName) {
                steps.append(.member(text))
            } else if first == "[", let index = Int(text), rest.popFirst() == "]" {
                steps.append(.element(index))
            } else {
                return nil
            }
        }
        self.steps = steps
    }
}

extension VariablePart.Step {
    /// The steps of a designator with which an item of a list begins, such as `.gains[2] =` or `[0x3] =`.
    ///
    /// - Returns: The steps, none if there is no designator, and the value behind them; `nil` if a step is no literal.
    static func designated(
        _ item: ArraySlice<SourceToken>
    ) -> (steps: [Self], value: ArraySlice<SourceToken>)? {
        var rest = item
        var steps: [Self] = []
        while let first = rest.first, first.has(".") || first.has("[") {
            guard let name = rest.dropFirst().first else { return nil }
            if first.has(".") {
                guard name.kind == .identifier else { return nil }
                steps.append(.member(name.text))
                rest = rest.dropFirst(2)
            } else {
                guard name.kind == .number, let index = NumberLiteral(name.text, .c)?.integer,
                    let index = UInt32(exactly: index), rest.dropFirst(2).first?.has("]") == true
                else { return nil }
                steps.append(.element(Int(index)))
                rest = rest.dropFirst(3)
            }
        }
        if steps.isEmpty { return (steps, item) }
        if rest.first?.has("=") == true { return (steps, rest.dropFirst()) }
        // `.gain{2.5}` in C++.
        return rest.first?.has("{") == true ? (steps, rest) : nil
    }
}

/// The list of values in the braces of an initializer. Only what is certain without the types is found in it.
struct InitializerList {
    /// The tokens between the braces.
    let tokens: ArraySlice<SourceToken>
    /// The first members of the structure that the list, or each of its elements, is of; none if they are not known.
    let members: [String]

    private static let brackets = VariableInitializer.brackets

    /// The value of a part.
    ///
    /// - Parameter wanted: The way to the part.
    func value(of wanted: ArraySlice<VariablePart.Step>) throws(Obstacle) -> ArraySlice<SourceToken> {
        guard let first = wanted.first else { return tokens }
        if tokens.contains(where: { $0.kind == .directive }) {
            throw Obstacle(reason: "a line of the preprocessor is inside its initializer")
        }
        var items = tokens.arguments(Self.brackets)
        if items.last?.isEmpty == true { items.removeLast() }
        var found: (rest: ArraySlice<VariablePart.Step>, value: ArraySlice<SourceToken>)?
        /// The index of the next element without a designator; `nil` where it is not certain.
        var next: Int? = 0
        /// A name before the next element, which may be a macro for several.
        var name: String?
        var isBehind = false
        for item in items {
            guard let (steps, value) = VariablePart.Step.designated(item) else {
                throw Obstacle(reason: "its initializer has a designator that cannot be read: \(item.text)")
            }
            // What follows the part is not for it, until a designator.
            isBehind = isBehind && steps.isEmpty
            if isBehind { continue }
            var designated = steps
            if steps.isEmpty {
                if let name { throw Self.several(name, first) }
                designated = [try step(to: item, next, first, isLast: wanted.count == 1)]
                if designated != [first] {
                    name =
                        item.first {
                            $0.kind == .identifier && !$0.has("true") && !$0.has("false")
                        }?.text
                }
                if item.first?.has("{") == true { name = nil }
            } else {
                name = nil
            }
            next = designated.count == 1 ? index(designated[0]).map { $0 + 1 } : nil
            guard wanted.starts(with: designated) else { continue }
            guard found == nil else { throw Obstacle(reason: "its initializer has two values for it") }
            found = (wanted.dropFirst(designated.count), value)
            isBehind = true
        }
        guard let found else {
            if let name { throw Self.several(name, first) }
            throw Obstacle(reason: "its initializer has no value for \(first.text); write one there")
        }
        // The members of members are unknown.
        let rest = wanted.prefix(wanted.count - found.rest.count).contains { $0.isMember } ? [] : members
        return try Self.value(found.value, of: found.rest, rest)
    }

    private static func several(_ name: String, _ wanted: VariablePart.Step) -> Obstacle {
        Obstacle(
            reason:
                "its initializer has \(name) before it, which may be several values; write \(wanted.text) = there"
        )
    }

    /// The position of a part; `nil` if it is not known.
    private func index(_ step: VariablePart.Step) -> Int? {
        switch step {
        case .element(let index): index
        case .member(let name): members.firstIndex(of: name)
        }
    }

    /// The step to an item without a designator.
    private func step(
        to item: ArraySlice<SourceToken>, _ next: Int?, _ wanted: VariablePart.Step, isLast: Bool
    ) throws(Obstacle) -> VariablePart.Step {
        if wanted.isMember {
            guard let next, next < members.count else {
                throw Obstacle(
                    reason: "its initializer does not name all members; write \(wanted.text) = there")
            }
            return .member(members[next])
        }
        guard let next else {
            throw Obstacle(reason: "its initializer continues after a part; write \(wanted.text) = there")
        }
        guard isLast || item.first?.has("{") == true else {
            throw Obstacle(reason: "its initializer does not have all braces; write those of \(item.text)")
        }
        return .element(next)
    }

    /// The value of a part of a value, which must be a list in braces then.
    private static func value(
        _ tokens: ArraySlice<SourceToken>, of steps: ArraySlice<VariablePart.Step>, _ members: [String]
    ) throws(Obstacle) -> ArraySlice<SourceToken> {
        guard let inside = tokens.insideBraces(brackets) else {
            guard let first = steps.first else { return tokens }
            throw Obstacle(
                reason: "its initializer has \(tokens.text) where braces with \(first.text) would be")
        }
        return try InitializerList(tokens: inside, members: members).value(of: steps)
    }
}
