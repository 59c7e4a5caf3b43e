// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import Testing
import TweakFormats

@Suite struct `Features.plist` {
    private let features = FeatureSet([
        Feature(
            name: "b", isEnabled: true, description: "<b> & \"b\"\u{1}\nend",
            parts: [Feature(name: "a", isEnabled: false)]),
        Feature(name: "c", isEnabled: false, description: "C"),
    ])

    @Test func `Sub-features are flattened, and keys are sorted`() {
        #expect(
            String(decoding: features.plist, as: UTF8.self) == """
                <?xml version="1.0" encoding="UTF-8"?>
                <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
                <plist version="1.0">
                <dict>
                \t<key>a</key>
                \t<dict>
                \t\t<key>enabled</key>
                \t\t<false/>
                \t</dict>
                \t<key>b</key>
                \t<dict>
                \t\t<key>description</key>
                \t\t<string>&lt;b&gt; &amp; "b" 
                end</string>
                \t\t<key>enabled</key>
                \t\t<true/>
                \t</dict>
                \t<key>c</key>
                \t<dict>
                \t\t<key>description</key>
                \t\t<string>C</string>
                \t\t<key>enabled</key>
                \t\t<false/>
                \t</dict>
                </dict>
                </plist>

                """)
    }

    @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func `It is read, in XML and binary`(format: PropertyListSerialization.PropertyListFormat) throws {
        let list: [String: Any] = [
            "b": ["enabled": true, "description": "B"], "a": ["enabled": false, "more": [1, 2.5, Date()]],
        ]
        let data = try PropertyListSerialization.data(fromPropertyList: list, format: format, options: 0)
        let features = try FeatureSet(plist: Array(data), path: "Features.plist")
        #expect(features.states == "a:false b:true")
        #expect(features.all.map(\.description) == [nil, "B"])
    }

    @Test func `A written list can be read`() throws {
        let read = try FeatureSet(plist: features.plist, path: "")
        #expect(read.states == "a:false b:true c:false")
        #expect(FeatureSet(read.features).plist == read.plist)
        #expect(try FeatureSet(plist: FeatureSet([]).plist, path: "").features.isEmpty)
    }

    @Test(arguments: [
        ("<array/>", "Features.plist: got an array, expected a dictionary"),
        ("<dict><key>a</key><true/></dict>", "Features.plist: a: got true, expected a dictionary"),
        (
            "<dict><key>a</key><dict/></dict>",
            "Features.plist: a.enabled: got nothing, expected true or false"
        ),
        (
            "<dict><key>a</key><dict><key>enabled</key><integer>1</integer></dict></dict>",
            "Features.plist: a.enabled: got 1, expected true or false"
        ),
        (
            "<dict><key>a</key><dict><key>enabled</key><true/><key>description</key><date>2026-01-01T00:00:00Z</date>"
                + "</dict></dict>", "Features.plist: a.description: got a date, expected text"
        ),
        ("<dict><key>a</key></dict>", "Features.plist: it is not a property list: "),
    ])
    func `A mistake is an error that names the place`(content: String, expected: String) {
        let plist = "<?xml version=\"1.0\"?><plist version=\"1.0\">\(content)</plist>"
        let error = #expect(throws: FormatError.self) {
            try FeatureSet(plist: Array(plist.utf8), path: "Features.plist")
        }
        #expect("\(error.map(String.init(describing:)) ?? "")".hasPrefix(expected))
    }
}
