// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

/// A macro in a source that declares a tweak.
struct SourceDeclaration {
    /// The name of the tweak; `nil` if it cannot be read.
    var key: TweakKey?
    /// The offset of its first byte.
    let offset: Int
    /// The place of the macro, as the compiler counts.
    let place: SourcePlace
    /// The places of the macros and calls around it, which the compiler may report instead.
    var outerPlaces: [SourcePlace] = []
    /// The expression of the default; empty if there is none.
    var defaultValue: ArraySlice<SourceToken> = []
    /// The expressions of the choices.
    var choices: [ArraySlice<SourceToken>] = []
    /// The expression of the variable that is the tweak, whose initializer is the default; empty if there is none.
    var object: ArraySlice<SourceToken> = []
    /// Whether the tweak has the type of its default.
    var decidesType = false
    /// The reason why its default cannot be changed, or its name cannot be read; `nil` if nothing is known against it.
    var obstacle: String?
    /// Whether it is never compiled.
    var isLeftOut = false
    /// The macro of the file in whose definition it is; then the compiler reports the places where that is used.
    var macro: String?
}

extension SourceDeclaration {
    /// Returns whether it declares a tweak, or the array of which the tweak is an element.
    func declares(_ tweak: TweakKey) -> Bool {
        guard let key else { return false }
        return key == tweak || !object.isEmpty && key == tweak.ofArray
    }
}

/// A place in a source, as a record has it.
struct SourcePlace: Hashable {
    /// The file that a line directive names; `nil` for the file itself.
    var file: String?
    var line: Int

    /// Returns whether it is the place of a record, which always names a file.
    func isSame(as recorded: SourcePlace) -> Bool {
        line == recorded.line && (file == nil || file == recorded.file)
    }
}

/// The numbering of lines by `#line` directives.
struct LineNumbering {
    private var sections: [(firstLine: Int, number: Int, file: String?)] = []

    /// Numbers the lines behind a directive anew. Call it in the order of the file.
    mutating func add(behind line: Int, number: Int, file: String?) {
        sections.append((line + 1, number, file ?? sections.last?.file))
    }

    func place(ofLine line: Int) -> SourcePlace {
        guard let section = sections.last(where: { $0.firstLine <= line }) else {
            return SourcePlace(line: line)
        }
        let (number, hasOverflown) = section.number.addingReportingOverflow(line - section.firstLine)
        return SourcePlace(file: section.file, line: hasOverflown ? 0 : number)
    }
}

/// The parts of a file that are never compiled, such as those inside `#if 0`. Other conditions are not evaluated.
struct LeftOutParts {
    /// For each open `#if`, whether its present branch is left out, and whether a branch before is always compiled.
    private var open: [(isLeftOut: Bool, isDecided: Bool)] = []
    private var start: Int?
    /// The bytes of the parts, in the order of the file.
    private(set) var ranges: [Range<Int>] = []

    /// Notes a directive. Call it in the order of the file.
    ///
    /// - Parameters:
    ///   - name: The directive, such as `ifdef`.
    ///   - condition: The condition if it is a constant.
    ///   - offset: The offset of the directive.
    mutating func add(_ name: String, _ condition: Bool?, at offset: Int) {
        switch name {
        case "if", "ifdef", "ifndef": open.append((condition == false, condition == true))
        case "elif", "elifdef", "elifndef", "elseif", "else":
            guard let last = open.popLast() else { return }
            open.append((last.isDecided || condition == false, last.isDecided || condition == true))
        case "endif": _ = open.popLast()
        default: return
        }
        let isLeftOut = open.contains(where: \.isLeftOut)
        if let start, !isLeftOut {
            ranges.append(start..<offset)
            self.start = nil
        } else if start == nil, isLeftOut {
            start = offset
        }
    }

    func contains(_ offset: Int) -> Bool {
        if let start, start <= offset { return true }
        return ranges.contains { $0.contains(offset) }
    }
}

/// A default as it is written: where, its value, and other values in the same notation.
struct WrittenDefault {
    /// The bytes of the literal.
    let range: Range<Int>
    /// The type that it gives its tweak; `nil` if something else decides that, or it is unknown.
    var type: TweakType?
    /// Whether other values are written with texts of the same file, which can be any expressions.
    var copiesExpressions = false
    /// The value that it gives a tweak; `nil` if it gives none of its type.
    let value: (TweakDeclaration) -> TweakValue?
    /// The literal of another value; `nil` if this notation has none.
    let written: (TweakValue, TweakDeclaration) -> [UInt8]?
}

/// The reason why a default stays as it is: the end of a sentence with "because".
struct Obstacle: Error {
    let reason: String

    init(reason: String) { self.reason = reason }

    /// The refusal of a value, without the name of the tweak.
    init(_ error: TweakValueError) { reason = error.problem }
}
