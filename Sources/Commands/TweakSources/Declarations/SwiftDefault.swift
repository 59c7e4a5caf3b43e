// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

/// Reads the default of a declaration in Swift.
struct SwiftDefault {
    let bytes: [UInt8]
    /// The newline of the file.
    let newline: String

    private typealias Tokens = ArraySlice<SourceToken>

    /// The default as it is written.
    ///
    /// - Parameter tweak: The declaration in the record, which has the type.
    func read(_ given: ArraySlice<SourceToken>, _ tweak: TweakDeclaration) throws(Obstacle) -> WrittenDefault
    {
        let given = given.withoutInterpolations
        var tokens = given
        while tokens.first?.has("(") == true,
            tokens.end(ofBracketAt: tokens.startIndex, SwiftDeclarations.brackets) == tokens.endIndex
        {
            tokens = tokens.dropFirst().dropLast()
        }
        guard let range = tokens.range, let first = tokens.first else { throw expression(given) }
        if tweak.isOptional { return try optional(tokens, range, tweak) }
        if let number = number(tokens) {
            return WrittenDefault(range: range) {
                number.value(of: $0.type)
            } written: { value, tweak in
                number.written(value, of: tweak.type, decidesType: false).map { Array($0.utf8) }
            }
        }
        if tokens.count == 1, first.kind == .string { return try string(first) }
        if tweak.element != nil, first.has("[") { return try array(tokens, range, tweak) }
        if tokens.count == 1, first.has("true") || first.has("false") {
            return WrittenDefault(range: range) { _ in
                .bool(first.has("true"))
            } written: { value, _ in
                Array("\(value)".utf8)
            }
        }
        guard let opening = tokens.firstIndex(where: { $0.has("(") }) else {
            return try member(tokens, tweak)
        }
        guard let (arguments, end) = SwiftDeclarations.arguments(tokens[opening...]), end == tokens.endIndex,
            let called = path(tokens[..<opening])
        else { throw expression(tokens) }
        switch (called.last?.text, arguments.map { SwiftDeclarations.label($0) }) {
        case (_, ["rawValue"]): return try read(arguments[0].dropFirst(2), tweak)
        case ("TweakColor", let labels), ("init", let labels):
            return try color(arguments, labels, tokens, range)
        case (let unit?, [nil]):
            guard let unit = Unit(rawValue: unit), let number = number(arguments[0]) else {
                throw expression(tokens)
            }
            return duration(unit, number, called[called.endIndex - 1].range, arguments[0], range)
        default: throw expression(tokens)
        }
    }

    private func expression(_ tokens: Tokens) -> Obstacle {
        Obstacle(
            reason: tokens.isEmpty ? "it has no default" : "its default is an expression: \(tokens.text)")
    }

    private func number(_ tokens: Tokens) -> NumberLiteral? {
        guard let last = tokens.last, last.kind == .number, tokens.count <= 2 else { return nil }
        guard tokens.count == 2 else { return NumberLiteral(last.text, .swift) }
        return tokens.first?.has("-") == true ? NumberLiteral(last.text, sign: "-", .swift) : nil
    }

    private func string(_ token: SourceToken) throws(Obstacle) -> WrittenDefault {
        guard let literal = SwiftString(token) else {
            throw Obstacle(reason: "its default is a text that is not literal")
        }
        return WrittenDefault(range: token.range) { _ in
            .string(literal.content)
        } written: { value, _ in
            guard case .string(let text) = value else { return nil }
            return Array(literal.written(text, newline: newline).utf8)
        }
    }

    // MARK: Optionals

    private func optional(
        _ tokens: Tokens, _ range: Range<Int>, _ tweak: TweakDeclaration
    ) throws(Obstacle) -> WrittenDefault {
        var wrapped = tweak
        wrapped.attributes.removeAll { $0.key == "optional" }
        let isNil = tokens.count == 1 && tokens.first?.has("nil") == true
        let some = valueOfSome(tokens)
        let literal = isNil ? nil : try read(some ?? tokens, wrapped)
        // A plain value would make an argument of a macro that of a tweak that is not optional.
        let isAssigned = bytes[..<range.lowerBound].last { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "=")
        let inner = some.flatMap(\.range) ?? range
        let (start, end) =
            isNil && !isAssigned
            ? (Array(".some(".utf8), Array(")".utf8))
            : (
                Array(bytes[range.lowerBound..<inner.lowerBound]),
                Array(bytes[inner.upperBound..<range.upperBound])
            )
        return WrittenDefault(range: range) { [wrapped] _ in
            literal.map { $0.value(wrapped)?.inOptional } ?? .absent
        } written: { [wrapped] value, _ in
            guard let value = value.outOfOptional else { return Array("nil".utf8) }
            let written = literal.map { $0.written(value, wrapped) } ?? Array(plain(value).utf8)
            return written.map { start + $0 + end }
        }
    }

    private func plain(_ value: TweakValue) -> String {
        if case .string(let text) = value { SwiftString.plain(text) } else { "\(value)" }
    }

    /// The value in `.some(…)` or `Optional(…)`.
    private func valueOfSome(_ tokens: Tokens) -> Tokens? {
        guard let opening = tokens.firstIndex(where: { $0.has("(") }),
            let name = path(tokens[..<opening])?.last, name.has("some") || name.has("Optional"),
            let (arguments, end) = SwiftDeclarations.arguments(tokens[opening...]), end == tokens.endIndex,
            arguments.count == 1
        else { return nil }
        return arguments[0]
    }

    // MARK: Arrays

    /// An array of literals. New elements stand where the former ones did, and more of them behind the last one.
    private func array(
        _ tokens: Tokens, _ range: Range<Int>, _ tweak: TweakDeclaration
    ) throws(Obstacle) -> WrittenDefault {
        guard let element = tweak.element,
            tokens.end(ofBracketAt: tokens.startIndex, SwiftDeclarations.brackets) == tokens.endIndex
        else { throw expression(tokens) }
        var literals: [WrittenDefault] = []
        for part in tokens.dropFirst().dropLast().arguments(SwiftDeclarations.brackets) where !part.isEmpty {
            guard number(part) != nil || part.count == 1 && part.first?.kind == .string else {
                throw expression(tokens)
            }
            literals.append(try read(part, element))
        }
        return WrittenDefault(range: range) { [literals] _ in
            let elements = literals.compactMap { $0.value(element) }
            return elements.count == literals.count ? TweakValue(elements: elements) : nil
        } written: { [literals] value, _ in
            guard case .string(let text) = value, let elements = TweakValue.elements(of: text) else {
                return nil
            }
            return written(elements, inPlaceOf: literals, element, range)
        }
    }

    private func written(
        _ elements: [TweakValue], inPlaceOf literals: [WrittenDefault], _ element: TweakDeclaration,
        _ range: Range<Int>
    ) -> [UInt8]? {
        guard let first = literals.first, let last = literals.last, !elements.isEmpty else {
            return Array("[\(elements.map(plain).joined(separator: ", "))]".utf8)
        }
        var written = Array(bytes[range.lowerBound..<first.range.lowerBound])
        for (index, value) in elements.enumerated() {
            let model = literals[min(index, literals.count - 1)]
            guard let text = model.written(value, element) else { return nil }
            if index > 0, literals.count > 1 {
                let next = min(index, literals.count - 1)
                written += bytes[literals[next - 1].range.upperBound..<literals[next].range.lowerBound]
            } else if index > 0 {
                written += Array(", ".utf8)
            }
            written += text
        }
        return written + bytes[last.range.upperBound..<range.upperBound]
    }

    /// The names in `name`, `.name` or `Type.name`; `nil` if there is something else.
    private func path(_ tokens: Tokens) -> Tokens? {
        guard tokens.last?.kind == .identifier, tokens.allSatisfy({ $0.kind == .identifier || $0.has(".") })
        else {
            return nil
        }
        return tokens
    }

    // MARK: Cases

    /// A case of an enumeration, or `.zero`.
    private func member(_ tokens: Tokens, _ tweak: TweakDeclaration) throws(Obstacle) -> WrittenDefault {
        guard let path = path(tokens), let range = path.range, let name = path.last else {
            throw expression(tokens)
        }
        guard path.contains(where: { $0.has(".") }) else {
            throw Obstacle(reason: "its default is the constant \(tokens.text)")
        }
        if tweak.type == .double, name.has("zero") {
            return WrittenDefault(range: range) { _ in
                .double(0)
            } written: { value, _ in
                Array((bytes(before: name, in: range) + "seconds(\(value))").utf8)
            }
        }
        guard tweak.type == .string || !tweak.choices.isEmpty else {
            throw Obstacle(reason: "its default is the constant \(tokens.text)")
        }
        return WrittenDefault(range: range) { tweak in
            let name = name.text.filter { $0 != "`" }
            if let choice = tweak.choices.first(where: { $0.label == name }) { return choice.value }
            return tweak.type == .string ? .string(name) : nil
        } written: { value, tweak in
            // As in the macro, the raw value of a case without a label is its name.
            let label = tweak.choices.first { $0.value == value }?.label
            guard let name = label ?? (tweak.type == .string ? "\(value)" : nil), isName(name) else {
                return nil
            }
            return Array((bytes(before: path[path.endIndex - 1], in: range) + name).utf8)
        }
    }

    private func bytes(before token: SourceToken, in range: Range<Int>) -> String {
        String(decoding: bytes[range.lowerBound..<token.range.lowerBound], as: UTF8.self)
    }

    private func isName(_ text: String) -> Bool {
        text.utf8.first?.beginsName == true && text.utf8.allSatisfy(\.continuesName)
            && !["init", "self", "Type", "Protocol"].contains(text)
    }

    // MARK: Durations

    /// The functions of `Duration`. That of nanoseconds takes only integers.
    private enum Unit: String {
        case seconds, milliseconds, microseconds, nanoseconds

        var perSecond: Double {
            switch self {
            case .seconds: 1
            case .milliseconds: 1e3
            case .microseconds: 1e6
            case .nanoseconds: 1e9
            }
        }
    }

    private func duration(
        _ unit: Unit, _ number: NumberLiteral, _ name: Range<Int>, _ argument: Tokens, _ range: Range<Int>
    ) -> WrittenDefault {
        func seconds(_ number: NumberLiteral) -> TweakValue? {
            guard case .double(let count)? = number.value(of: .double) else { return nil }
            return .double(count / unit.perSecond)
        }
        return WrittenDefault(range: range) { _ in
            seconds(number)
        } written: { value, _ in
            guard case .double(let wanted) = value, let inside = argument.range else { return nil }
            let count = wanted * unit.perSecond
            // The product may be off by a rounding error.
            let counts = [
                count.rounded(), (count * 1e6).rounded() / 1e6, count, count.nextUp, count.nextDown,
            ]
            let text = counts.lazy.filter { unit != .nanoseconds || $0 == $0.rounded() }
                .compactMap { number.written(.double($0), of: .double, decidesType: false) }
                .first { text in
                    let digits = text.drop { $0 == "-" }
                    let sign = text.hasPrefix("-") ? "-" : ""
                    return NumberLiteral(String(digits), sign: sign, .swift).flatMap(seconds) == value
                }
            if let text {
                return bytes[range.lowerBound..<inside.lowerBound] + Array(text.utf8)
                    + bytes[inside.upperBound..<range.upperBound]
            }
            return bytes[range.lowerBound..<name.lowerBound] + Array("seconds(\(wanted))".utf8)
        }
    }

    // MARK: Colours

    /// `TweakColor(red: 255, green: 128, blue: 0, alpha: 255)` of literals.
    private func color(
        _ arguments: [Tokens], _ labels: [String?], _ tokens: Tokens, _ range: Range<Int>
    ) throws(Obstacle) -> WrittenDefault {
        let components = arguments.compactMap { argument in
            let value = argument.dropFirst(2)
            return value.range.flatMap { range in
                number(value).map { ColorComponent(range: range, literal: $0) }
            }
        }
        guard 3...4 ~= labels.count, labels == Array(["red", "green", "blue", "alpha"].prefix(labels.count)),
            components.count == labels.count
        else { throw expression(tokens) }
        let end = components[2].range.upperBound
        return WrittenColor(
            components: components, range: range, bytes: bytes, missingAlpha: 255,
            added: { [(end..<end, ", alpha: \($0)")] }
        ).asDefault
    }
}
