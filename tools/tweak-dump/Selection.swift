// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandSupport
import TweakRecords

/// The tweaks to show.
struct Selection: ParsableArguments {
    @Option(
        name: .customLong("name"),
        help: ArgumentHelp(
            "Only tweaks whose Category/Collection/Name matches this pattern, with *, ? and […].",
            valueName: "pattern"))
    var names: [Pattern] = []

    @Option(name: .customLong("category"), help: "Only tweaks of this category.")
    var categories: [String] = []

    @Option(name: .customLong("type"), help: "Only tweaks of this type.")
    var types: [NamedType] = []

    @Option(
        name: .customLong("location"),
        help: ArgumentHelp(
            "Only tweaks declared in a file, or at a file:line, whose last components match this pattern.",
            valueName: "pattern"))
    var locations: [Pattern] = []

    /// Whether all tweaks are shown.
    var isEverything: Bool { names.isEmpty && categories.isEmpty && types.isEmpty && locations.isEmpty }

    func contains(_ tweak: TweakDeclaration) -> Bool {
        isOne(tweak.key.category, of: categories)
            && (types.isEmpty || types.contains { $0.type == tweak.type })
            && (names.isEmpty || names.contains { $0.fits(tweak.key.description) })
            && (locations.isEmpty || tweak.location.map(isSelected) ?? false)
    }

    /// An option that selects some of these tweaks by the parts of the patterns that a name must have.
    func nearest(of keys: [TweakKey]) -> String? {
        for pattern in names {
            let wide = "*\(pattern.text)*"
            let fitting = Pattern(wide)
            if keys.contains(where: { fitting.fits($0.description) }) {
                return "--name \(wide.shellQuoted)"
            }
            let word = pattern.text.lowercased().filter { !"*?".contains($0) }
            guard !word.isEmpty, let key = keys.first(where: { $0.description.lowercased().contains(word) })
            else { continue }
            return "--name \("\(key)".shellQuoted)"
        }
        for category in categories {
            guard let key = keys.first(where: { $0.category.lowercased() == category.lowercased() }) else {
                continue
            }
            return "--category \(key.category.shellQuoted)"
        }
        return nil
    }

    /// By bytes, as names are compared everywhere.
    private func isOne(_ category: String, of categories: [String]) -> Bool {
        categories.isEmpty || categories.contains { $0.utf8.elementsEqual(category.utf8) }
    }

    private func isSelected(_ location: String) -> Bool {
        let scalars = Array(location.unicodeScalars)
        let file = scalars.lastIndex(of: ":").map { scalars[..<$0] } ?? scalars[...]
        // The whole path, and the parts after each slash.
        let starts = [0] + scalars.indices.filter { scalars[$0] == "/" }.map { $0 + 1 }
        return locations.contains { pattern in
            starts.contains {
                pattern.fits(scalars[$0...]) || $0 < file.endIndex && pattern.fits(file[$0...])
            }
        }
    }
}

/// The type named by an argument.
struct NamedType: ExpressibleByArgument {
    let type: TweakType

    init?(argument: String) {
        guard let type = TweakType(argument) else { return nil }
        self.type = type
    }

    static var allValueStrings: [String] { TweakType.allCases.map(\.description) }
    var defaultValueDescription: String { type.description }
}

extension Pattern: ExpressibleByArgument {
    init?(argument: String) { self.init(argument) }
}
