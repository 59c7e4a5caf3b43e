// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakRecords

/// What lists the options by hand has all of `TweakOption.all`; CONTRIBUTING.md says how one is added.
@Suite struct `Places of options` {
    /// What a declaration does not have under the name in JSON: limits come first, providers have the texts,
    /// and the compiler tells the location and, by the type, the elements.
    private static let undeclared: Set<String> = [
        "minimum", "maximum", "element", "optional", "title", "group", "location",
    ]
    private static var declared: [TweakOption] {
        TweakOption.all.filter { !undeclared.contains($0.name) }
    }
    /// The macros of C.
    private static var macros: [String] {
        declared.map { "FBTweak\($0.name.prefix(1).uppercased())\($0.name.dropFirst())" }
    }

    private func read(_ path: String) throws -> String {
        try String(contentsOfFile: Locations.package + "/" + path, encoding: .utf8)
    }

    private func readArticle(_ name: String) throws -> String {
        try read("Sources/Library/Tweaks/Tweaks.docc/\(name).md")
    }

    private func words(_ text: Substring) -> [String] {
        text.matches(of: /"([\w-]+)"/).map { String($0.1) }
    }

    /// The names of the options in the first overload of a Swift macro.
    private func labels(of macro: String) throws -> [String] {
        let overloads = try read("Sources/Library/Tweaks/Swift/Macros/MacroOverloads.swift")
        let parts = overloads.components(separatedBy: "public macro \(macro)(\n")
        try #require(parts.count > 1, "MacroOverloads.swift has no \(macro)")
        let parameters = parts[1].components(separatedBy: "\n) = #externalMacro")[0]
        return parameters.matches(of: /(\w+)(?: \w+)?:\s/).map { String($0.1) }.filter { $0 != "_" }
    }

    @Test func `The header has a macro for each option`() throws {
        let header = try read("CSupport/include/fbtweak.h")
        for macro in Self.macros {
            #expect(header.contains("#define \(macro)"), "fbtweak.h, part 1")
        }
        let message = try #require(header.firstMatch(of: /is none of ([^;]*);/)?.1)
        let named = message.matches(of: /FBTweak\w+/).map { String($0.output) }
        #expect(named == Self.macros.sorted(), "FBTWEAK__NO_OPTION in fbtweak.h")
        let keys = try #require(header.firstMatch(of: /An attribute is ([^.]*) and NULL/)?.1)
        #expect(
            Set(words(keys)) == Set(TweakOption.all.compactMap(\.attribute)),
            "the attributes that functions of fbtweak.h take")
    }

    @Test(arguments: [
        ("FBTWEAK__OPTIONS_OF_ACTION", "tweakAction", ["action"]),
        ("FBTWEAK__OPTIONS_OF_MONITOR", "TweakMonitored", ["in"]),
    ])
    func `Actions and monitors have the same options in C as in Swift`(
        mask: String, macro: String, others: [String]
    ) throws {
        let header = try read("CSupport/include/fbtweak.h")
        let parts = header.components(separatedBy: "  \(mask) =")
        try #require(parts.count == 2)
        let bits = parts[1].components(separatedBy: ",")[0].matches(of: /FBTWEAK_(?:HAS)?_(\w+)/)
        let inC = bits.map { $0.1.lowercased().replacing("_", with: "") }
        let inSwift = try labels(of: macro).filter { !others.contains($0) }.map { $0.lowercased() }
        #expect(Set(inC) == Set(inSwift), "\(mask) in fbtweak.h, or the options in macro-overloads")
    }

    @Test func `Macros of Swift have each option, in the order in which the page copies them`() throws {
        let arguments = try labels(of: "Tweakable")
        var names = Self.declared.map(\.name).filter { $0 != "choices" && $0 != "unit" }
        let pair = try #require(names.firstIndex(of: "pair"))
        names.insert("unit", at: pair + 1)
        #expect(
            arguments == ["in", "choices"] + names,
            "run tools/development/macro-overloads, which has the options that do more than inform")
        let page = try read("Sources/Page/Files/copying.js")
        let unlike = try #require(page.firstMatch(of: /unlikeArguments = new Set\(\[([^\]]*)\]/)?.1)
        #expect(Set(words(unlike)) == Self.undeclared.union(["choices"]), "unlikeArguments in copying.js")
    }

    @Test func `Tweaks made at run time have each option`() throws {
        let making = try read("Sources/Library/Tweaks/Swift/Handles/TweakStore+MakingHandles.swift")
        for option in Self.declared where option.name != "choices" && option.name != "step" {
            // With limits or without, by a key or by levels.
            let count = option.purpose == .display && option.name != "unit" ? 1 : 2
            let place: Comment = "\(option.name) of make in TweakStore+MakingHandles.swift"
            let attribute = try #require(option.attribute)
            #expect(making.ranges(of: "\"\(attribute)\": ").count == count, place)
            #expect(making.ranges(of: " \(option.name): \(option.name)").count >= count, place)
        }
    }

    @Test func `Python's tweaks have each option`() throws {
        let values = try read("tools/python/fbtweak/_values.py")
        for option in TweakOption.all {
            #expect(values.contains("\"\(option.name)\""), "\(option.name) of read_tweak in _values.py")
        }
    }

    @Test func `The documentation names each option`() throws {
        let rows = try read("CSupport/RecordFormat.md").split(separator: "\n").filter { $0.hasPrefix("| `") }
        for attribute in TweakOption.all.compactMap(\.attribute) {
            #expect(rows.contains { $0.contains("`\(attribute)`") }, "\(attribute) in RecordFormat.md")
        }
        let articleOnC = try readArticle("DeclaringTweaksInC")
        for macro in Self.macros {
            #expect(articleOnC.contains("`\(macro)"), "\(macro) in DeclaringTweaksInC.md")
        }
        let articleOnSwift = try readArticle("DeclaringTweaksInSwift")
        for option in Self.declared where option.purpose != .information {
            let example = "`\(option.name): "
            #expect(articleOnSwift.contains(example), "\(option.name) in DeclaringTweaksInSwift.md")
        }
    }
}
