import ArgumentParser
import TweakRecords

/// Which tweaks are meant.
struct Selection: ParsableArguments {
    @Option(
        name: .customLong("name"),
        help: ArgumentHelp(
            "Only tweaks whose Category/Collection/Name fits this pattern, with *, ? and […].",
            valueName: "pattern"))
    var names: [Pattern] = []

    @Option(name: .customLong("category"), help: "Only tweaks of this category.")
    var categories: [String] = []

    @Option(name: .customLong("type"), help: "Only tweaks of this type.")
    var types: [NamedType] = []

    @Option(
        name: .customLong("location"),
        help: ArgumentHelp(
            "Only tweaks that are declared in a file, or file:line, whose last parts fit this pattern.",
            valueName: "pattern"))
    var locations: [Pattern] = []

    /// Whether all are.
    var isEverything: Bool { names.isEmpty && categories.isEmpty && types.isEmpty && locations.isEmpty }

    func contains(_ tweak: TweakDeclaration) -> Bool {
        isOne(tweak.key.category, of: categories)
            && (types.isEmpty || types.contains { $0.type == tweak.type })
            && (names.isEmpty || names.contains { $0.fits(tweak.key.description) })
            && (locations.isEmpty || tweak.location.map(isSelected) ?? false)
    }

    /// By bytes, as names are compared everywhere.
    private func isOne(_ category: String, of categories: [String]) -> Bool {
        categories.isEmpty || categories.contains { $0.utf8.elementsEqual(category.utf8) }
    }

    private func isSelected(_ location: String) -> Bool {
        let scalars = Array(location.unicodeScalars)
        let file = scalars.lastIndex(of: ":").map { scalars[..<$0] } ?? scalars[...]
        // The whole path, and what is behind each slash.
        let starts = [0] + scalars.indices.filter { scalars[$0] == "/" }.map { $0 + 1 }
        return locations.contains { pattern in
            starts.contains {
                pattern.fits(scalars[$0...]) || $0 < file.endIndex && pattern.fits(file[$0...])
            }
        }
    }
}

/// A type that is named by an argument.
struct NamedType: ExpressibleByArgument {
    let type: TweakType

    init?(argument: String) {
        guard let type = TweakType(argument) else { return nil }
        self.type = type
    }

    static var allValueStrings: [String] { TweakType.allCases.map(\.description) }
    var defaultValueDescription: String { type.description }
}

/// A pattern in the manner of glob(7), in which `*` also stands for slashes.
struct Pattern: ExpressibleByArgument {
    private enum Element {
        case any
        case one
        case scalar(Unicode.Scalar)
        case among([ClosedRange<Unicode.Scalar>], isNegated: Bool)

        func fits(_ scalar: Unicode.Scalar) -> Bool {
            switch self {
            case .any, .one: true
            case .scalar(let own): own == scalar
            case .among(let ranges, let isNegated): ranges.contains { $0.contains(scalar) } != isNegated
            }
        }
    }

    private var elements: [Element] = []

    init?(argument: String) {
        var rest = Array(argument.unicodeScalars)[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            case "*": elements.append(.any)
            case "?": elements.append(.one)
            case "\\": elements.append(.scalar(rest.popFirst() ?? scalar))
            case "[": elements.append(Self.set(&rest) ?? .scalar(scalar))
            default: elements.append(.scalar(scalar))
            }
        }
    }

    /// What stands in brackets, the first of which has been read; `nil` if there is no second.
    private static func set(_ rest: inout ArraySlice<Unicode.Scalar>) -> Element? {
        var inside = rest
        let isNegated = inside.first == "!" || inside.first == "^"
        if isNegated { inside.removeFirst() }
        var ranges: [ClosedRange<Unicode.Scalar>] = []
        // A bracket in the first place is one of those that fit.
        while true {
            guard let scalar = inside.popFirst() else { return nil }
            if scalar == "]", !ranges.isEmpty { break }
            guard inside.first == "-", let last = inside.dropFirst().first, last != "]" else {
                ranges.append(scalar...scalar)
                continue
            }
            inside = inside.dropFirst(2)
            ranges.append(min(scalar, last)...max(scalar, last))
        }
        rest = inside
        return .among(ranges, isNegated: isNegated)
    }

    func fits(_ text: String) -> Bool { fits(Array(text.unicodeScalars)[...]) }

    /// Takes at most as long as the text times the pattern: of several `*` only the last one has to be tried again.
    func fits(_ text: ArraySlice<Unicode.Scalar>) -> Bool {
        var (place, element) = (text.startIndex, 0)
        var retry: (place: Int, element: Int)?
        while place < text.endIndex {
            if element < elements.count, case .any = elements[element] {
                element += 1
                retry = (place, element)
            } else if element < elements.count, elements[element].fits(text[place]) {
                place += 1
                element += 1
            } else if let last = retry {
                place = last.place + 1
                element = last.element
                retry = (place, element)
            } else {
                return false
            }
        }
        return elements[element...].allSatisfy { if case .any = $0 { true } else { false } }
    }
}
