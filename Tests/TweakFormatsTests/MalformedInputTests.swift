import Foundation
import TestSupport
import Testing
import TweakFormats

/// Inputs with one mistake each. All of them are errors, and none traps or takes for ever.
@Suite struct `Malformed inputs` {
    private static let features = """
        {"default": {"a": {"enabled": true, "description": "A", "b": {"enabled": false}}}, "beta": \
        {"inherits_from": "default", "a": {"enabled": false}}}
        """
    private static let justTweak = """
        {"f": {"v": {"Title": "T", "Description": "D", "Group": "G", "Value": 1.5, "GeneratedPropertyName": "p", \
        "Encrypted": false}}}
        """
    private static let plist = FeatureSet([
        Feature(name: "a", isEnabled: true, details: "A", parts: [Feature(name: "b", isEnabled: false)])
    ]).plist

    private static func features(_ bytes: [UInt8]) throws {
        _ = try FeaturesFile(json: bytes, path: "old.json").features(in: "default")
    }

    /// Every place where the text is cut off, has a byte too many, or has other punctuation.
    private static func mutations(of json: String) -> [[UInt8]] {
        let bytes = Array(json.utf8)
        var mutations = bytes.indices.map { Array(bytes[..<$0]) }
        for (index, byte) in bytes.enumerated() {
            guard "{}[]:,\"".utf8.contains(byte) else { continue }
            for replacement in "{]:,\u{1}".utf8 where replacement != byte {
                var mutation = bytes
                mutation[index] = replacement
                mutations.append(mutation)
            }
            var shorter = bytes
            shorter.remove(at: index)
            mutations.append(shorter)
        }
        return mutations
    }

    /// The text with another value for each value.
    private static func wrongTypes(of json: String) -> [[UInt8]] {
        let values = ["true", "false", "1.5"] + json.matches(of: /: ("\w+")/).map { String($0.1) }
        return values.filter { json.contains(": \($0)") }.flatMap { value in
            ["null", "[]", "{}", "1e", "[[1]]"].map {
                Array(json.replacing(": \(value)", with: ": \($0)").utf8)
            }
        }
    }

    /// Checks that what is wrong is said with the file, the place in it, and what can be there.
    private static func checkError(of bytes: [UInt8], _ body: () throws -> Void) throws {
        let text = Comment(rawValue: String(decoding: bytes, as: UTF8.self))
        let message = "\(try #require(throws: FormatError.self, text) { try body() })"
        let parts = message.split(separator: ": ")
        #expect(parts.first == "old.json", "\(message)")
        #expect(parts.count > 2 || message.contains("it has "), "\(message)")
        let choices = ["expected", "missing: ", "it has ", "there are ", "is written as "]
        #expect(choices.contains { message.contains($0) }, "\(message)")
    }

    @Test func `There are more than two hundred of each kind of JSON`() {
        #expect(Self.mutations(of: Self.features).count > 200)
        #expect(Self.mutations(of: Self.justTweak).count > 200)
    }

    @Test func `Of features.json each is an error that names file, place and choices`() throws {
        try Self.features(Array(Self.features.utf8))
        for bytes in Self.mutations(of: Self.features) + Self.wrongTypes(of: Self.features) {
            try Self.checkError(of: bytes) { try Self.features(bytes) }
        }
    }

    @Test func `Of JustTweak's JSON each is an error that names file, place and choices`() throws {
        _ = try JustTweakFile(json: Array(Self.justTweak.utf8), path: "")
        for bytes in Self.mutations(of: Self.justTweak) + Self.wrongTypes(of: Self.justTweak) {
            try Self.checkError(of: bytes) { _ = try JustTweakFile(json: bytes, path: "old.json") }
        }
    }

    @Test func `Of Features.plist in XML each place where it is cut off is an error`() throws {
        let text = String(decoding: Self.plist, as: UTF8.self)
        let end = try #require(text.range(of: "</plist>"))
        for count in 0..<text.utf8.distance(from: text.startIndex, to: end.lowerBound) {
            #expect(throws: FormatError.self, "\(count)") {
                try FeatureSet(plist: Array(Self.plist.prefix(count)), path: "")
            }
        }
    }

    @Test func `Of a binary property list each place where it is cut off is an error`() {
        let bytes = Plist.dictionary(["a": .dictionary(["enabled": .bool(true)])]).binary
        for count in bytes.indices {
            #expect(throws: FormatError.self, "\(count)") {
                try FeatureSet(plist: Array(bytes.prefix(count)), path: "")
            }
        }
    }

    /// What would make Foundation's decoder trap, or never end.
    private static let hostile: [(what: String, bytes: [UInt8])] = [
        ("a list in itself", BinaryPlist(objects: [.array([0])]).bytes),
        ("a dictionary in itself", BinaryPlist(objects: [.dictionary([(1, 0)]), .text("a")]).bytes),
        ("a list of two lists of two lists …", twins.bytes),
        ("no objects", BinaryPlist(objects: []).bytes),
        ("a root that is not there", BinaryPlist(objects: [.bool(true)], top: 1).bytes),
        ("a root beyond every file", BinaryPlist(objects: [.bool(true)], top: .max).bytes),
        ("an element that is not there", BinaryPlist(objects: [.array([7])]).bytes),
        ("a name that is no text", BinaryPlist(objects: [.dictionary([(1, 1)]), .bool(true)]).bytes),
        ("deep arrays", deep("<plist>", "<array>")),
        ("deep arrays with spaces", deep("<plist>", "<array \n>")),
        ("deep dictionaries", deep("<plist>", "<dict><key>a</key>")),
        ("a comment without an end", deep("<plist><!--", "<array>")), ("deep lists as text", deep("", "(")),
        ("text", Array("a = b".utf8)), ("nothing", []), ("spaces", Array("  \n".utf8)),
        ("one tag", Array("<".utf8)),
        ("UTF-16", Array("\u{FEFF}<plist/>".utf16).flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }),
        ("an entity", Array("<!DOCTYPE a [<!ENTITY b \"c\">]><plist><string>&b;</string></plist>".utf8)),
    ]

    private static let twins = BinaryPlist(
        objects: (1...40).map { BinaryPlist.Object.array([$0, $0]) } + [.bool(true)])

    private static func deep(_ start: String, _ part: String) -> [UInt8] {
        Array(start.utf8) + Array(String(repeating: part, count: 20_000).utf8)
    }

    @Test(arguments: hostile)
    func `A hostile property list is an error`(what: String, bytes: [UInt8]) {
        #expect(throws: FormatError.self) { try FeatureSet(plist: bytes, path: "") }
        #expect(throws: FormatError.self) { try ImportedOverrides(bytes, path: "") }
    }

    @Test func `Whatever happens to a property list, nothing traps`() {
        let export = KeyedArchives.export([
            .integer(1), KeyedArchives.color(["UIWhite": .real(0.5)]), .text("a"),
        ])
        var generator = SystemRandomNumberGenerator()
        for original in [export.binary, export.xml, Self.plist] {
            for _ in 0..<(isLong ? 5_000 : 200) {
                var bytes = original
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    let index = Int.random(in: bytes.indices, using: &generator)
                    switch Int.random(in: 0...3, using: &generator) {
                    case 0: bytes[index] = UInt8.random(in: 0...255, using: &generator)
                    case 1: bytes[index] ^= 1 << UInt8.random(in: 0...7, using: &generator)
                    case 2: bytes.remove(at: index)
                    default: bytes.insert(bytes.randomElement(using: &generator) ?? 0, at: index)
                    }
                }
                _ = try? ImportedOverrides(bytes, path: "")
                _ = try? FeatureSet(plist: bytes, path: "")
            }
        }
    }
}
