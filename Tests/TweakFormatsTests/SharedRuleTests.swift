// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import Testing
import TweakFormats
import TweakJSON
import TweakRecords

/// The rules that the page shares with the commands and the library. `rules.test.mjs` checks the same ones in JavaScript.
@Suite struct `Rules that the page shares` {
    private struct Rules: Decodable {
        struct Shown: Decodable { let text, shown: String }
        struct Key: Decodable {
            let levels: [String]
            let key: String
        }
        struct Gates: Decodable {
            let name: String
            let gates: [String]
        }
        struct Expiry: Decodable {
            let expires: String?
            let today: String
            let isExpired: Bool
        }
        struct Limits: Decodable {
            let type: String
            let minimum, maximum: JSONValue?
            let value, admitted: JSONValue
        }
        let shown: [Shown]
        let keys: [Key]
        let gates: [Gates]
        let expiry: [Expiry]
        let limits: [Limits]
    }

    private let rules: Rules

    init() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        rules = try decodeJSON(
            from: Array(Data(contentsOf: folder.appending(path: "ToolTests/Page/modules/rules.json"))))
    }

    @Test func `Characters that cannot be seen are escaped`() {
        for rule in rules.shown { #expect(rule.text.printable == rule.shown) }
    }

    @Test func `A slash and a percent sign in a name are escaped in a key`() {
        for rule in rules.keys {
            #expect("\(TweakKey(rule.levels[0], rule.levels[1], rule.levels[2]))" == rule.key)
        }
    }

    @Test func `The features around a part are its gates`() throws {
        for rule in rules.gates {
            let names = rule.name == "enabled" ? [] : rule.name.split(separator: "/").map(Self.unescaped)
            let innermost = try #require(FeatureSet([Self.nested(["Sound"] + names)]).all.last)
            let around = innermost.path.indices.map { PlacedFeature.key(of: innermost.path[...$0]).name }
            #expect(around == rule.gates + [rule.name])
        }
    }

    private static func unescaped(_ name: Substring) -> String {
        String(name).replacing("%2F", with: "/").replacing("%25", with: "%")
    }

    /// A feature with a part in it, which has a part in it, and so on.
    private static func nested(_ names: [String]) -> Feature {
        let parts = names.count > 1 ? [nested(Array(names.dropFirst()))] : []
        return Feature(name: names[0], isEnabled: true, parts: parts)
    }

    @Test func `A tweak expires after its last day`() {
        for rule in rules.expiry {
            var tweak = TweakDeclaration(key: TweakKey("a", "b", "c"), type: .bool, defaultValue: true)
            tweak.attributes = rule.expires.map { [.init(key: "expires", value: $0)] } ?? []
            #expect(tweak.hasExpired(on: rule.today) == rule.isExpired)
        }
    }

    @Test func `A number is moved into the limits and the range of its type`() throws {
        for rule in rules.limits {
            let type = try #require(TweakType(rule.type))
            let tweak = TweakDeclaration(
                key: TweakKey("a", "b", "c"), type: type, defaultValue: 0,
                minimum: rule.minimum?.value(of: type), maximum: rule.maximum?.value(of: type))
            guard case .scalar(let given) = rule.value else { continue }
            #expect(try tweak.admit(given).value == rule.admitted.value(of: type), "\(rule)")
        }
    }
}
