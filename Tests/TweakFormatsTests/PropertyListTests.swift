// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakRecords

@testable import TweakFormats

@Suite struct `A property list` {
    private func value(_ element: String) throws -> PropertyList {
        try PropertyList(Array("<plist version=\"1.0\">\(element)</plist>".utf8), path: "")
    }

    /// What was given to Foundation, as it is read.
    private func form(_ value: Any) -> PropertyList {
        switch value {
        case let flag as Bool: .scalar(.bool(flag))
        case let number as Int: .scalar(.integer(Int128(number)))
        case let number as Int64: .scalar(.integer(Int128(number)))
        case let number as UInt64: .scalar(.integer(Int128(number)))
        case let number as Double: PropertyList(number)
        case let text as String: .scalar(.string(text))
        case let data as Data: .data(Array(data))
        case let list as [Any]: .array(list.map(form))
        case let members as [String: Any]:
            .dictionary(Dictionary(uniqueKeysWithValues: members.map { (ByteText($0), form($1)) }))
        default: .other
        }
    }

    /// Anything that a list can hold.
    private func any(_ depth: Int, _ generator: inout SeededGenerator) -> Any {
        switch Int.random(in: 0...(depth < 4 ? 9 : 7), using: &generator) {
        case 0: return Bool.random(using: &generator)
        case 1: return Int.random(in: -300...300, using: &generator)
        case 2: return Int64.random(in: .min ... .max, using: &generator)
        case 3: return UInt64.random(in: .min ... .max, using: &generator)
        case 4: return Double(Int.random(in: -1000...1000, using: &generator)) / 8 + 0.0625
        case 5: return Data((0..<Int.random(in: 0...20, using: &generator)).map { UInt8($0 * 13 & 0xFF) })
        case 6: return Date(timeIntervalSinceReferenceDate: 1000)
        case 7:
            let parts = ["a", "<b>", "&", "]]>", "é", "e\u{301}", "😀", "\n", "\"'", " "]
            return (0..<Int.random(in: 0...20, using: &generator))
                .map { _ in parts.randomElement(using: &generator) ?? "" }.joined()
        case 8: return (0..<Int.random(in: 0...20, using: &generator)).map { _ in any(depth + 1, &generator) }
        default:
            return Dictionary(
                (0..<Int.random(in: 0...20, using: &generator)).map {
                    ("\($0) é<", any(depth + 1, &generator))
                }
            ) { $1 }
        }
    }

    @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func `Property lists of Foundation are read`(format: PropertyListSerialization.PropertyListFormat) throws
    {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<(isLong ? 5000 : 200) {
            let value = any(0, &generator)
            let data = try PropertyListSerialization.data(fromPropertyList: value, format: format, options: 0)
            #expect(try PropertyList(Array(data), path: "") == form(value))
        }
    }

    @Test(
        arguments: [
            ("<true/>", .scalar(true)), ("<true></true>", .scalar(true)), ("<false />", .scalar(false)),
            ("<integer> -0x10 </integer>", .scalar(-16)), ("<integer>+7</integer>", .scalar(7)),
            ("<integer>18446744073709551615</integer>", .scalar(.integer(Int128(UInt64.max)))),
            ("<integer>18446744073709551616</integer>", .scalar(.double(18446744073709551616))),
            ("<real>2.50</real>", .scalar(2.5)), ("<real>3</real>", .scalar(3)),
            ("<real>1e3</real>", .scalar(1000)),
            ("<real>-inf</real>", .scalar(.double(-.infinity))), ("<real>1e-400</real>", .scalar(0)),
            ("<string/>", .scalar("")), ("<string></string>", .scalar("")), ("<data/>", .data([])),
            ("<string>a&lt;&#98;&#x1F600;<![CDATA[<&]]]>c</string>", .scalar("a<b😀<&]c")),
            ("<data> AQ ID\nBA== </data>", .data([1, 2, 3, 4])),
            ("<date>2026-01-01T00:00:00Z</date>", .other),
            ("<array><!-- <array> --><?a?><true/> </array>", .array([.scalar(true)])),
            ("<array/>", .array([])),
            (
                "<dict><key>a</key><array/><key/><dict/></dict>",
                .dictionary(["a": .array([]), "": .dictionary([:])])
            ),
            ("<dict><key>CF$UID</key><integer>3</integer></dict>", .dictionary(["CF$UID": .scalar(3)])),
        ] as [(String, PropertyList)])
    func `Elements have Apple's meaning`(element: String, expected: PropertyList) throws {
        #expect(try value(element) == expected)
    }

    @Test(arguments: [
        ("<real>1e400</real>", "line 1: 1e400 is out of the range of a double"),
        ("<integer>1e5</integer>", "line 1: an integer is expected"),
        ("<integer>--1</integer>", "line 1: an integer is expected"),
        ("<integer/>", "an integer is expected"),
        ("\n<real>0x1p3</real>", "line 2: a number is expected"), ("<real/>", "a number is expected"),
        ("<data>!</data>", "Base64 is expected"), ("<string>&nbsp;</string>", "no such character"),
        ("<string>&#xD800;</string>", "no such character"),
        ("<string>&", "no such character"),
        ("<other/>", "there is no element other"), ("<string>a", "</string> is expected"),
        ("<array>", "</plist> ends nothing"), ("<true>", "</true> is expected"), ("", "ends nothing"),
        ("<dict><key>a</key></dict>", "a value is expected"), ("<dict><true/></dict>", "a key is expected"),
        ("<true/>x", "a tag is expected"), ("<!-- ", "--> is missing"),
        ("<true/><true/>", "</plist> is expected"),
    ])
    func `An error names the place and what is expected`(element: String, expected: String) {
        let error = #expect(throws: FormatError.self) { try value(element) }
        #expect(error.map { "\($0)".contains(expected) } == true, "\(error.map { "\($0)" } ?? "")")
    }

    @Test func `100 levels are read, and more are an error`() throws {
        for depth in [99, 100, 101] {
            let xml =
                String(repeating: "<array>", count: depth) + String(repeating: "</array>", count: depth)
            let binary = BinaryPlist(objects: (1..<depth).map { .array([$0]) } + [.array([])]).bytes
            for bytes in [Array("<plist>\(xml)</plist>".utf8), binary] {
                if depth <= 100 {
                    #expect(throws: Never.self) { try PropertyList(bytes, path: "") }
                } else {
                    let error = #expect(throws: FormatError.self) { try PropertyList(bytes, path: "") }
                    #expect(error.map { "\($0)".contains("more than 100 levels") } == true)
                }
            }
        }
    }

    @Test func `A name that many dictionaries share is in the file once`() throws {
        let name = String(repeating: "x", count: 40)
        let objects: [BinaryPlist.Object] =
            [.array(Array(3..<503)), .text(name), .bool(true)] + (0..<500).map { _ in .dictionary([(1, 2)]) }
        let list = try PropertyList(BinaryPlist(objects: objects).bytes, path: "")
        let dictionary = PropertyList.dictionary([ByteText(name): .scalar(true)])
        #expect(list == .array([PropertyList](repeating: dictionary, count: 500)))
    }

    @Test func `A long text that many arrays share is an error`() {
        let text = String(repeating: "x", count: 60_000)
        let objects: [BinaryPlist.Object] = [.array([Int](repeating: 1, count: 60_000)), .text(text)]
        #expect(throws: FormatError.self) { try PropertyList(BinaryPlist(objects: objects).bytes, path: "") }
    }
}
