// SPDX-License-Identifier: BSD-3-Clause

/// An extended regular expression of POSIX, as for `grep -E`, without back-references.
///
/// The text is read once with all states of the expression together (Thompson's algorithm: Ken Thompson, Regular
/// Expression Search Algorithm, CACM 11, 1968), so the time and the memory of a search do not explode, whatever the
/// expression. Back-references need backtracking and are refused. The leftmost match counts, and of those the longest.
package struct RegularExpression: Sendable {
    /// The reason why a text is not an expression.
    package struct Problem: Error, Hashable {
        package let reason: String
    }

    /// A match in a text.
    package struct Match: Hashable, Sendable {
        package let range: Range<Int>
        /// The first group, at its last repetition; `nil` if it is not part of the match.
        package let group: Range<Int>?
    }

    /// A limit for expressions made to exhaust memory, such as `((a{1,255}){1,255}){1,255}`.
    fileprivate static let mostInstructions = 10_000
    /// The limit of nested groups, which are parsed recursively.
    fileprivate static let deepestNesting = 100
    /// The steps between two calls of `check`.
    private static let checkedSteps = 1 << 20

    fileprivate enum Instruction: Sendable {
        case character(CharacterSet)
        /// Continues at both places; the first is preferred.
        case split(Int, Int)
        case jump(Int)
        case groupStart, groupEnd
        case assertion(Assertion)
        case match
    }

    private let program: [Instruction]
    /// The characters that a match can begin with; `nil` if a match can be empty or begins with an assertion.
    private let first: CharacterSet?

    /// - Throws: ``Problem`` if the text is malformed, too large, or has back-references.
    package init(_ text: String) throws(Problem) {
        var parser = Parser(text)
        let node = try parser.parse()
        var compiler = Compiler()
        try compiler.add(node)
        try compiler.emit(.match)
        program = compiler.program
        first = node.firstCharacters
    }

    /// Finds the last of the matches that do not overlap, in the order of the text.
    ///
    /// - Parameters:
    ///   - text: Code points; a line ends with a newline.
    ///   - check: Called about every million steps, to end the search by throwing.
    package func lastMatch<Failure: Error>(
        in text: [UInt32], checking check: () throws(Failure) -> Void
    ) throws(Failure) -> Match? {
        var search = Search(program, first, text)
        var last: Match?
        var start = 0
        while start <= text.count {
            search.begin(at: start)
            repeat {
                let isDone = search.run(steps: Self.checkedSteps)
                if isDone { break }
                try check()
            } while true
            guard let match = search.best else { break }
            last = match
            start = max(match.range.upperBound, match.range.lowerBound + 1)
            if search.spendsCheck(after: Self.checkedSteps) { try check() }
        }
        return last
    }

    // MARK: - Searching

    /// One search, with all states of the expression at a position.
    private struct Search {
        private struct State {
            var instruction: Int
            var start: Int
            var group: (start: Int, end: Int)
        }

        private let program: [Instruction]
        private let first: CharacterSet?
        private let text: [UInt32]
        private var position = 0
        private var current: [State] = []
        private var next: [State] = []
        private var stack: [State] = []
        /// The generation of states in which an instruction was reached last.
        private var reached: [Int]
        /// The generation of ``current``; that of ``next`` is the following one.
        private var generation = 0
        private var spent = 0
        private(set) var best: Match?

        init(_ program: [Instruction], _ first: CharacterSet?, _ text: [UInt32]) {
            (self.program, self.first, self.text) = (program, first, text)
            reached = program.map { _ in 0 }
        }

        mutating func begin(at start: Int) {
            position = start
            best = nil
            current.removeAll(keepingCapacity: true)
            generation += 2
        }

        /// Returns whether the steps since the last check are this many, and counts anew if so.
        mutating func spendsCheck(after steps: Int) -> Bool {
            guard spent >= steps else { return false }
            spent = 0
            return true
        }

        /// Continues the search.
        ///
        /// - Returns: Whether it has ended; otherwise the steps were spent.
        mutating func run(steps: Int) -> Bool {
            while true {
                if current.isEmpty {
                    if best != nil { return true }
                    if let first {
                        while position < text.count, !first.contains(text[position]) {
                            position += 1
                            spent += 1
                        }
                        if position == text.count { return true }
                    }
                }
                // States with an earlier start come first, so they are preferred.
                if best == nil {
                    swap(&current, &next)
                    reach(State(instruction: 0, start: position, group: (-1, -1)), at: position, generation)
                    swap(&current, &next)
                }
                let character = position < text.count ? text[position] : nil
                for state in current {
                    switch program[state.instruction] {
                    case .match: found(state)
                    case .character(let set):
                        guard let character, set.contains(character),
                            best.map({ state.start <= $0.range.lowerBound }) ?? true
                        else { continue }
                        var following = state
                        following.instruction += 1
                        reach(following, at: position + 1, generation + 1)
                    default: continue
                    }
                }
                spent += current.count + 1
                swap(&current, &next)
                generation += 1
                next.removeAll(keepingCapacity: true)
                guard character != nil else { return true }
                position += 1
                if spent >= steps {
                    spent = 0
                    return false
                }
            }
        }

        private mutating func found(_ state: State) {
            if let best {
                guard
                    state.start < best.range.lowerBound
                        || state.start == best.range.lowerBound && position > best.range.upperBound
                else { return }
            }
            let group = state.group.end >= state.group.start && state.group.start >= 0
            best = Match(
                range: state.start..<position, group: group ? state.group.start..<state.group.end : nil)
        }

        /// Adds the states that are reached without a character to ``next``.
        private mutating func reach(_ state: State, at position: Int, _ generation: Int) {
            stack.append(state)
            while var state = stack.popLast() {
                guard reached[state.instruction] != generation else { continue }
                reached[state.instruction] = generation
                spent += 1
                switch program[state.instruction] {
                case .character, .match:
                    next.append(state)
                    continue
                case .split(let preferred, let other):
                    state.instruction = other
                    stack.append(state)
                    state.instruction = preferred
                case .jump(let target): state.instruction = target
                case .groupStart:
                    state.group = (position, -1)
                    state.instruction += 1
                case .groupEnd:
                    state.group.end = position
                    state.instruction += 1
                case .assertion(let assertion):
                    guard assertion.holds(in: text, at: position) else { continue }
                    state.instruction += 1
                }
                stack.append(state)
            }
        }
    }
}

// MARK: - The parts of an expression

/// A set of characters, or of those that are not in it.
private struct CharacterSet: Sendable {
    var ranges: [ClosedRange<UInt32>]
    var isNegated = false

    static let newline: UInt32 = 10
    static let any = CharacterSet(ranges: [], isNegated: true)
    static let word = CharacterSet(ranges: classes["alnum", default: []] + [0x5F...0x5F])

    /// The classes in brackets, for ASCII.
    static let classes: [String: [ClosedRange<UInt32>]] = [
        "alnum": [0x30...0x39, 0x41...0x5A, 0x61...0x7A], "alpha": [0x41...0x5A, 0x61...0x7A],
        "blank": [0x09...0x09, 0x20...0x20], "cntrl": [0x00...0x1F, 0x7F...0x7F], "digit": [0x30...0x39],
        "graph": [0x21...0x7E], "lower": [0x61...0x7A], "print": [0x20...0x7E],
        "punct": [0x21...0x2F, 0x3A...0x40, 0x5B...0x60, 0x7B...0x7E], "space": [0x09...0x0D, 0x20...0x20],
        "upper": [0x41...0x5A], "xdigit": [0x30...0x39, 0x41...0x46, 0x61...0x66],
    ]

    /// A newline is in no set that names what is not in it.
    func contains(_ character: UInt32) -> Bool {
        let isNamed = ranges.contains { $0.contains(character) }
        return isNegated ? !isNamed && character != Self.newline : isNamed
    }
}

/// A condition on a position in a text.
private enum Assertion: Sendable {
    case lineStart, lineEnd, textStart, textEnd, wordStart, wordEnd, wordBoundary, noWordBoundary

    func holds(in text: [UInt32], at position: Int) -> Bool {
        let before = position > 0 ? text[position - 1] : nil
        let after = position < text.count ? text[position] : nil
        let (isAfterWord, isBeforeWord) = (
            before.map(CharacterSet.word.contains) ?? false, after.map(CharacterSet.word.contains) ?? false
        )
        return switch self {
        case .lineStart: before == nil || before == CharacterSet.newline
        case .lineEnd: after == nil || after == CharacterSet.newline
        case .textStart: before == nil
        case .textEnd: after == nil
        case .wordStart: !isAfterWord && isBeforeWord
        case .wordEnd: isAfterWord && !isBeforeWord
        case .wordBoundary: isAfterWord != isBeforeWord
        case .noWordBoundary: isAfterWord == isBeforeWord
        }
    }
}

private indirect enum Node {
    case character(CharacterSet)
    case assertion(Assertion)
    case sequence([Node])
    case alternatives([Node])
    case `repeat`(Node, Int, most: Int?)
    case group(Node, isFirst: Bool)

    /// The characters that a match can begin with; `nil` if it can begin otherwise.
    var firstCharacters: CharacterSet? {
        switch self {
        case .character(let set): return set
        case .assertion: return nil
        case .sequence(let nodes): return nodes.first?.firstCharacters
        case .alternatives(let nodes):
            var ranges: [ClosedRange<UInt32>] = []
            for node in nodes {
                guard let set = node.firstCharacters, !set.isNegated else { return nil }
                ranges += set.ranges
            }
            return CharacterSet(ranges: ranges)
        case .repeat(let node, let least, _): return least > 0 ? node.firstCharacters : nil
        case .group(let node, _): return node.firstCharacters
        }
    }
}

/// Parses the grammar of extended regular expressions: POSIX.1-2017, volume 1, 9.4, with `\w`, `\s`, `\b` and `\<`.
private struct Parser {
    private let scalars: [Unicode.Scalar]
    private var place = 0
    private var groups = 0
    private var depth = 0

    /// The largest number of repetitions, as in POSIX.
    private static let mostRepetitions = 255

    init(_ text: String) { scalars = Array(text.unicodeScalars) }

    typealias Problem = RegularExpression.Problem

    mutating func parse() throws(Problem) -> Node {
        let node = try alternatives()
        guard place == scalars.count else { throw Problem(reason: "there is a ) without a (") }
        return node
    }

    private var current: Unicode.Scalar? { place < scalars.count ? scalars[place] : nil }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard current == scalar else { return false }
        place += 1
        return true
    }

    private mutating func alternatives() throws(Problem) -> Node {
        var all = [try sequence()]
        while take("|") { all.append(try sequence()) }
        return all.count == 1 ? all[0] : .alternatives(all)
    }

    private mutating func sequence() throws(Problem) -> Node {
        var nodes: [Node] = []
        while let scalar = current, scalar != "|", scalar != ")" {
            var node = try atom(scalar)
            var isRepeated = false
            while let (least, most) = try repetition() {
                if case .assertion = node { throw Problem(reason: "an anchor cannot be repeated") }
                // A repetition of a repetition is nested, too.
                if isRepeated {
                    depth += 1
                    try checkDepth()
                }
                isRepeated = true
                node = .repeat(node, least, most: most)
            }
            nodes.append(node)
        }
        return .sequence(nodes)
    }

    private func checkDepth() throws(Problem) {
        guard depth <= RegularExpression.deepestNesting else {
            throw Problem(reason: "more than \(RegularExpression.deepestNesting) groups are nested")
        }
    }

    /// - Returns: `nil` if there is none.
    private mutating func repetition() throws(Problem) -> (least: Int, most: Int?)? {
        if take("*") { return (0, nil) }
        if take("+") { return (1, nil) }
        if take("?") { return (0, 1) }
        return try interval()
    }

    /// A number of repetitions in braces. Other braces are characters, as for `grep -E`.
    private mutating func interval() throws(Problem) -> (least: Int, most: Int?)? {
        guard current == "{", let end = scalars[place...].firstIndex(of: "}") else { return nil }
        let parts = scalars[(place + 1)..<end].split(separator: ",", omittingEmptySubsequences: false)
        guard 1...2 ~= parts.count, parts.contains(where: { !$0.isEmpty }),
            parts.allSatisfy({ $0.allSatisfy { "0"..."9" ~= $0 } })
        else { return nil }
        let numbers = parts.map { part -> Int? in
            part.reduce(0 as Int?) { sum, digit in
                sum.map { min($0 * 10 + Int(digit.value - 0x30), Self.mostRepetitions + 1) }
            }
        }
        let least = parts[0].isEmpty ? 0 : numbers[0] ?? 0
        let most = parts.count == 1 ? least : parts[1].isEmpty ? nil : numbers[1]
        guard least <= Self.mostRepetitions, most ?? 0 <= Self.mostRepetitions, most ?? least >= least else {
            throw Problem(
                reason: "a number of repetitions is {m}, {m,} or {m,n}, with m ≤ n ≤ \(Self.mostRepetitions)")
        }
        place = end + 1
        return (least, most)
    }

    private mutating func atom(_ scalar: Unicode.Scalar) throws(Problem) -> Node {
        switch scalar {
        case "*", "+", "?": throw Problem(reason: "there is nothing to repeat before \(scalar)")
        case "{" where try peekedInterval(): throw Problem(reason: "there is nothing to repeat before {")
        default: place += 1
        }
        switch scalar {
        case "(":
            groups += 1
            depth += 1
            try checkDepth()
            defer { depth -= 1 }
            let isFirst = groups == 1
            let node = try alternatives()
            guard take(")") else { throw Problem(reason: "a ( has no )") }
            return .group(node, isFirst: isFirst)
        case ".": return .character(.any)
        case "^": return .assertion(.lineStart)
        case "$": return .assertion(.lineEnd)
        case "[": return .character(try brackets())
        case "\\": return try escaped()
        default: return .character(CharacterSet(ranges: [scalar.value...scalar.value]))
        }
    }

    private func peekedInterval() throws(Problem) -> Bool {
        var copy = self
        return try copy.interval() != nil
    }

    private mutating func escaped() throws(Problem) -> Node {
        guard let scalar = current else { throw Problem(reason: "there is nothing after the last \\") }
        place += 1
        switch scalar {
        case "w": return .character(.word)
        case "W": return .character(CharacterSet(ranges: CharacterSet.word.ranges, isNegated: true))
        case "s": return .character(CharacterSet(ranges: CharacterSet.classes["space", default: []]))
        case "S":
            return .character(
                CharacterSet(ranges: CharacterSet.classes["space", default: []], isNegated: true))
        case "b": return .assertion(.wordBoundary)
        case "B": return .assertion(.noWordBoundary)
        case "<": return .assertion(.wordStart)
        case ">": return .assertion(.wordEnd)
        case "`": return .assertion(.textStart)
        case "'": return .assertion(.textEnd)
        case "1"..."9":
            throw Problem(
                reason:
                    "\\\(scalar) is a back-reference, which is refused, because matching could take forever")
        case "d": throw Problem(reason: "\\d does not exist in extended regular expressions; write [0-9]")
        case _ where scalar.properties.isAlphabetic || "0"..."9" ~= scalar:
            throw Problem(
                reason:
                    "\\\(scalar) is not an escape; allowed: \\w \\W \\s \\S \\b \\B \\< \\>, and \\ before "
                    + "signs"
            )
        default: return .character(CharacterSet(ranges: [scalar.value...scalar.value]))
        }
    }

    private mutating func brackets() throws(Problem) -> CharacterSet {
        var set = CharacterSet(ranges: [], isNegated: take("^"))
        var isFirst = true
        while let scalar = current, isFirst || scalar != "]" {
            isFirst = false
            if scalar == "[", place + 1 < scalars.count, scalars[place + 1] == ":" {
                let name = try named(":")
                guard let ranges = CharacterSet.classes[name] else {
                    let all = CharacterSet.classes.keys.sorted().joined(separator: ", ")
                    throw Problem(reason: "there is no class [:\(name):]; allowed: \(all)")
                }
                set.ranges += ranges
                continue
            }
            let start = try element()
            guard current == "-", place + 1 < scalars.count, scalars[place + 1] != "]" else {
                set.ranges.append(start.value...start.value)
                continue
            }
            place += 1
            let end = try element()
            guard start <= end else { throw Problem(reason: "the range \(start)-\(end) is empty") }
            set.ranges.append(start.value...end.value)
        }
        guard take("]") else { throw Problem(reason: "a [ has no ]") }
        return set
    }

    /// A character in brackets, which may be written as `[.c.]` or `[=c=]`.
    private mutating func element() throws(Problem) -> Unicode.Scalar {
        guard let scalar = current else { throw Problem(reason: "a [ has no ]") }
        if scalar == "[", place + 1 < scalars.count, [".", "="].contains(scalars[place + 1]) {
            let name = try named(scalars[place + 1])
            guard let character = name.unicodeScalars.first, name.unicodeScalars.count == 1 else {
                throw Problem(reason: "\(name) is not a character")
            }
            return character
        }
        place += 1
        return scalar
    }

    /// The text between `[:` and `:]`.
    private mutating func named(_ mark: Unicode.Scalar) throws(Problem) -> String {
        place += 2
        let start = place
        while place + 1 < scalars.count {
            if scalars[place] == mark, scalars[place + 1] == "]" {
                defer { place += 2 }
                var name = ""
                name.unicodeScalars.append(contentsOf: scalars[start..<place])
                return name
            }
            place += 1
        }
        throw Problem(reason: "a [\(mark) has no \(mark)]")
    }
}

private struct Compiler {
    private(set) var program: [RegularExpression.Instruction] = []
    /// The nodes added so far. Repetitions of empty groups have no instructions.
    private var nodes = 0

    mutating func emit(_ instruction: RegularExpression.Instruction) throws(RegularExpression.Problem) {
        try checkSize(program.count)
        program.append(instruction)
    }

    private func checkSize(_ count: Int) throws(RegularExpression.Problem) {
        guard count < RegularExpression.mostInstructions else {
            throw .init(reason: "it is too large with all its repetitions")
        }
    }

    mutating func add(_ node: Node) throws(RegularExpression.Problem) {
        nodes += 1
        try checkSize(nodes)
        switch node {
        case .character(let set): try emit(.character(set))
        case .assertion(let assertion): try emit(.assertion(assertion))
        case .sequence(let nodes): for node in nodes { try add(node) }
        case .group(let node, let isFirst):
            if isFirst { try emit(.groupStart) }
            try add(node)
            if isFirst { try emit(.groupEnd) }
        case .alternatives(let nodes):
            var jumps: [Int] = []
            for (index, node) in nodes.enumerated() {
                guard index < nodes.count - 1 else {
                    try add(node)
                    break
                }
                let split = program.count
                try emit(.jump(0))
                try add(node)
                jumps.append(program.count)
                try emit(.jump(0))
                program[split] = .split(split + 1, program.count)
            }
            for jump in jumps { program[jump] = .jump(program.count) }
        case .repeat(let node, let least, let most):
            // The last one of at least one can be repeated itself.
            let copies = most == nil ? max(least, 1) - 1 : least
            for _ in 0..<copies { try add(node) }
            if let most {
                var splits: [Int] = []
                for _ in least..<most {
                    splits.append(program.count)
                    try emit(.jump(0))
                    try add(node)
                }
                for split in splits { program[split] = .split(split + 1, program.count) }
            } else {
                let start = program.count
                if least == 0 { try emit(.jump(0)) }
                let body = program.count
                try add(node)
                let end = program.count
                try emit(.split(least == 0 ? start : body, end + 1))
                if least == 0 { program[start] = .split(body, program.count) }
            }
        }
    }
}
