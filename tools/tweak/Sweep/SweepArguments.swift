// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandCompletion
import CommandSupport
import TweakClient
import TweakGenerators
import TweakPlot
import TweakProtocol
import TweakRecords
import TweakSearch
import TweakSystem

/// A statistic of a monitor or tweak: `p95(Motor/State/Error)`. A name alone is for the mean.
struct MeasureArgument: ExpressibleByArgument {
    let text: String
    let name: String
    let statistic: Statistic

    init?(argument: String) {
        text = argument
        if argument.last == ")", let start = argument.firstIndex(of: "("),
            let statistic = Statistic(name: String(argument[..<start]))
        {
            self.statistic = statistic
            name = String(argument[argument.index(after: start)...].dropLast())
        } else {
            (name, statistic) = (argument, .mean)
        }
        guard !name.isEmpty else { return nil }
    }
}

/// A condition that must hold: `Speed<8000`. The limit may be calculated.
struct GuardArgument: ExpressibleByArgument {
    let text: String
    let name: String
    private let comparison: Comparison
    private let limit: Double

    private enum Comparison: String, CaseIterable {
        // The longer ones first, because the others begin them.
        case atMost = "<="
        case atLeast = ">="
        case less = "<"
        case more = ">"
    }

    init?(argument: String) {
        guard let sign = argument.lastIndex(where: { "<>".contains($0) }),
            let comparison = Comparison.allCases.first(where: { argument[sign...].hasPrefix($0.rawValue) }),
            let limit = Double(typed: String(argument[sign...].dropFirst(comparison.rawValue.count))),
            case let name = argument[..<sign].trimmed, !name.isEmpty
        else { return nil }
        (text, self.name, self.comparison, self.limit) = (argument, String(name), comparison, limit)
    }

    /// Returns whether the condition holds; not for NaN.
    func holds(for value: Double) -> Bool {
        switch comparison {
        case .atMost: value <= limit
        case .atLeast: value >= limit
        case .less: value < limit
        case .more: value > limit
        }
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        let start = drop { $0 == " " }
        return start[..<(start.lastIndex { $0 != " " }.map(start.index(after:)) ?? start.startIndex)]
    }
}

extension SearchAxis {
    /// Parses a tweak with the values to try: `NAME`, `NAME=A..B`, `NAME=A..B/N`, or `NAME=A,B,C`.
    ///
    /// - Returns: The axis, and the tweak as the program has it.
    static func parse(
        _ word: String, in program: any Program
    ) throws(Failure) -> (axis: SearchAxis, tweak: JSONTweak) {
        let unknown: Failure
        do throws(Failure) {
            let tweak = try program.tweak(named: word)
            return (try SearchAxis(all: tweak.declaration), tweak)
        } catch {
            unknown = error
        }
        guard unknown.isAboutName, let assignment = Assignment(argument: word) else { throw unknown }
        let tweak = try program.tweak(named: assignment.name)
        return (try SearchAxis(tweak, values: repaired(assignment.text)), tweak)
    }

    /// All values that the declaration allows.
    private init(all tweak: TweakDeclaration) throws(Failure) {
        try Self.check(tweak)
        guard let values = SearchSpace.Values(of: tweak) else {
            let (lacking, example) = tweak.type.isNumeric ? ("limits", "A..B") : ("choices", "A,B")
            throw Failure("\(tweak.key): it has no \(lacking); write \(tweak.key)=\(example)", .usage)
        }
        self.init(tweak, values)
    }

    private init(_ tweak: JSONTweak, values text: String) throws(Failure) {
        let declaration = tweak.declaration
        try Self.check(declaration)
        func value(_ text: Substring) throws(Failure) -> TweakValue {
            let admission = try failing {
                try declaration.admit(text: String(text.trimmed), current: tweak.nextValue)
            }
            if admission.wasClamped {
                warn(
                    outsideLimits("\(declaration.key): \(text)", allowed: declaration.allowed), .clamped,
                    declaration.key)
            }
            return admission.value
        }
        guard declaration.type.isNumeric, declaration.choices.isEmpty, let dots = text.range(of: "..") else {
            var values: [TweakValue] = []
            for part in text.split(separator: ",", omittingEmptySubsequences: false) {
                let value = try value(part)
                if !values.contains(value) { values.append(value) }
            }
            guard values.count > 1 else {
                throw Failure(
                    "\(declaration.key): \(text): a sweep needs several values, with commas, or as A..B",
                    .usage)
            }
            self.init(declaration, .choices(values))
            return
        }
        var end = text[dots.upperBound...]
        var count: Int?
        if let slash = end.lastIndex(of: "/"), let number = Int(end[end.index(after: slash)...].trimmed) {
            guard 2...Sweep.most ~= number else {
                throw Failure("\(declaration.key): \(text): a range has 2 to \(Sweep.most) values", .usage)
            }
            (count, end) = (number, end[..<slash])
        }
        let (low, high) = (try value(text[..<dots.lowerBound]), try value(end))
        guard let axis = SearchAxis(declaration, from: low, to: high, count: count) else {
            throw Failure("\(declaration.key): \(text): the first value must be below the last", .usage)
        }
        self = axis
    }

    private static func check(_ tweak: TweakDeclaration) throws(Failure) {
        guard tweak.type != .action, !tweak.isReadOnly else {
            throw Failure("\(tweak.key): it cannot be set, so it cannot be swept", .invalid)
        }
    }
}

extension String {
    fileprivate func range(of part: String) -> Range<Index>? {
        let (text, part) = (Array(utf8), Array(part.utf8))
        guard text.count >= part.count else { return nil }
        for start in 0...(text.count - part.count) where text[start...].starts(with: part) {
            let low = utf8.index(startIndex, offsetBy: start)
            return low..<utf8.index(low, offsetBy: part.count)
        }
        return nil
    }
}
