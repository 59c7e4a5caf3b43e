// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakFormats
import TweakJSON

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
        Feature(name: "a", isEnabled: true, description: "A", parts: [Feature(name: "b", isEnabled: false)])
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

    /// What would make a careless reader trap, or never end. Foundation's traps on some.
    private static let hostile: [(what: String, bytes: [UInt8])] = [
        ("a list in itself", BinaryPlist(objects: [.array([0])]).bytes),
        ("a dictionary in itself", BinaryPlist(objects: [.dictionary([(1, 0)]), .text("a")]).bytes),
        ("a list of two lists of two lists …", twins.bytes),
        ("no objects", BinaryPlist(objects: []).bytes),
        ("a root that is not there", BinaryPlist(objects: [.bool(true)], top: 1).bytes),
        ("a root beyond every file", BinaryPlist(objects: [.bool(true)], top: .max).bytes),
        ("an element that is not there", BinaryPlist(objects: [.array([7])]).bytes),
        ("a name that is not text", BinaryPlist(objects: [.dictionary([(1, 1)]), .bool(true)]).bytes),
        ("deep arrays", deep("<plist>", "<array>")),
        ("deep arrays with spaces", deep("<plist>", "<array \n>")),
        ("deep dictionaries", deep("<plist>", "<dict><key>a</key>")),
        ("a comment without an end", deep("<plist><!--", "<array>")), ("deep lists as text", deep("", "(")),
        ("text", Array("a = b".utf8)), ("nothing", []), ("spaces", Array("  \n".utf8)),
        ("one tag", Array("<".utf8)),
        ("UTF-16", Array("\u{FEFF}<plist/>".utf16).flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }),
        // Tags that begin like another, or come where they cannot be.
        ("lists in lists", deep("", "<plist>")), ("deep tags like arrays", deep("<plist>", "<arrayx>")),
        ("deep arrays and comments that seem to end them", deep("<plist>", "<array><!--></array>-->")),
        ("a list behind the list", Array("<plist><dict/></plist><plist><dict/></plist>".utf8)),
        ("a tag without an end behind the list", Array("<plist><dict/></plist><array><key".utf8)),
        ("other brackets", Array("<plist><dict></array></plist>".utf8)),
        ("a value without a name", Array("<plist><dict><true/></dict></plist>".utf8)),
        ("another encoding", Array("<?xml version='1.0' encoding='UTF-16'?><plist><dict/></plist>".utf8)),
        ("a wide text beyond the end", binary([0x6F, 0x11, 0, 200] + [UInt8](repeating: 65, count: 200))),
        ("a list longer than every file", binary([0xAF, 0x13] + [UInt8](repeating: 0xFF, count: 8))),
        (
            "a dictionary longer than every file",
            binary([0xDF, 0x13, 0x40] + [UInt8](repeating: 0, count: 7))
        ),
        ("a text longer than every file", binary([0x5F, 0x13, 0x7F] + [UInt8](repeating: 0xFF, count: 7))),
        ("data longer than every file", binary([0x4F, 0x13] + [UInt8](repeating: 0x7F, count: 8))),
        ("a text that is not ASCII", binary([0x51, 0x80])), ("half a character", binary([0x61, 0xD8, 0])),
        ("a number of 32 bytes", binary([0x15] + [UInt8](repeating: 1, count: 32))),
        ("a number of more than 64 bits", binary([0x14] + [UInt8](repeating: 1, count: 16))),
        ("an entity", Array("<!DOCTYPE a [<!ENTITY b \"c\">]><plist><string>&b;</string></plist>".utf8)),
    ]

    /// A list of one object.
    private static func binary(_ object: [UInt8]) -> [UInt8] {
        let number = { (number: Int) in withUnsafeBytes(of: UInt64(number).bigEndian) { Array($0) } }
        let table = 8 + object.count
        let parts = [
            Array("bplist00".utf8), object, number(8), [0, 0, 0, 0, 0, 0, 8, 1], number(1), number(0),
            number(table),
        ]
        return parts.flatMap { $0 }
    }

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

    @Test func `Malformed property lists do not trap`() {
        let export = KeyedArchives.export([
            .integer(1), KeyedArchives.color(["UIWhite": .real(0.5)]), .text("a\u{e9}"), .data([1, 2]),
        ])
        let archived = Plist.dictionary(["FBTweak:A-B-C": .data(export.binary), "b": .array([.bool(true)])])
        for original in [export.binary, export.xml, archived.binary, archived.xml, Self.plist] {
            for bytes in damaged(original, count: isLong ? 4000 : 300) {
                _ = try? ImportedOverrides(bytes, path: "")
                _ = try? FeatureSet(plist: bytes, path: "")
                _ = ImportedOverrides.recognizes(bytes)
                _ = try? PreferencePage(bytes, path: "").adding([.init(identity: ["Key": "a"])])
            }
        }
    }

    @Test func `Malformed JSON does not trap`() {
        let providers = #"{"providers": ["session", {"name": "a", "variables": ["b"]}, {"features": "c"}]}"#
        let older = #"{"FBTweak:A-B-C": 1.5, "FTS_FEATURE_x": true, "A": {"B": {"C": "\ud83d\ude00\u00e9"}}}"#
        for original in [Self.features, Self.justTweak, providers, older, #"{"accessorName": "A"}"#] {
            for bytes in damaged(Array(original.utf8), count: isLong ? 4000 : 500) {
                try? Self.features(bytes)
                _ = try? JustTweakFile(json: bytes, path: "")
                _ = try? ProviderList(json: bytes, path: "a/b")
                _ = try? AccessorConfiguration(json: bytes, path: "")
                _ = try? ImportedOverrides(bytes, path: "")
                _ = try? JSONParser.value(of: bytes)
                _ = try? decodeJSON([String: JSONValue].self, from: bytes)
            }
        }
    }

    @Test func `Environments that inherit in a long row are read`() throws {
        let count = 20_000
        let environments = (0..<count).map { #""\#($0)": {"inherits_from": "\#(($0 + 1) % count)"}"# }
        let ring = "{\(environments.joined(separator: ","))}"
        let message =
            "\(try #require(throws: FormatError.self) { try FeaturesFile(json: Array(ring.utf8), path: "") })"
        #expect(message.contains("it inherits from itself: "))
        let row = ring.replacing(#""inherits_from": "0""#, with: #""a": {"enabled": true}"#)
        let file = try FeaturesFile(json: Array(row.utf8), path: "")
        #expect(try file.features(in: "0").features.map(\.name) == ["a"])
    }

    @Test func `Tweaks of an archive that share a long text are an error`() throws {
        let text = String(repeating: "x", count: 60_000)
        let tweak = Plist.dictionary(["name": .reference(5), "currentValue": .reference(5)])
        let objects: [Plist] = [
            .dictionary(["$class": .reference(2), "categories": .reference(3)]),
            KeyedArchives.class("FBTweakStore"), .dictionary(["NS.objects": .array([.reference(4)])]),
            .dictionary(["name": .reference(5), "collections": .reference(6)]), .text(text),
            .dictionary(["NS.objects": .array([.reference(7)])]),
            .dictionary(["name": .reference(5), "tweaks": .reference(8)]),
            .dictionary(["NS.objects": .array((9..<209).map { .reference($0) })]),
        ]
        let archive = KeyedArchives.archive(objects + [Plist](repeating: tweak, count: 200))
        for bytes in [archive.binary, archive.xml] {
            let error = #expect(throws: FormatError.self) { try ImportedOverrides(bytes, path: "") }
            #expect(error.map { "\($0)".contains("repeat a long text too often") } == true)
        }
    }
}
