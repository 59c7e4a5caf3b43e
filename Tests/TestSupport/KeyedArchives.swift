// SPDX-License-Identifier: BSD-3-Clause
/// Keyed archives as Foundation makes them of the objects of Facebook Tweaks.
public enum KeyedArchives {
    /// An archive of objects, of which the second is the root.
    public static func archive(_ objects: [Plist]) -> Plist {
        .dictionary([
            "$archiver": .text("NSKeyedArchiver"), "$version": .integer(100000),
            "$top": .dictionary(["root": .reference(1)]), "$objects": .array([.text("$null")] + objects),
        ])
    }

    /// A class, to which objects refer.
    public static func `class`(_ name: String) -> Plist {
        .dictionary(["$classname": .text(name), "$classes": .array([.text(name), .text("NSObject")])])
    }

    /// What the export holds: category `Spring-2`, collection `Physics`, and tweaks with the given current values.
    ///
    /// - Parameters:
    ///   - values: The values; `nil` for a tweak that was not changed.
    ///   - names: What the tweaks are called, if not `Value 0` and so on.
    public static func export(_ values: [Plist?], names: [String]? = nil) -> Plist {
        let tweaks = UInt8(15)
        var objects: [Plist] = [
            .dictionary(["$class": .reference(2), "categories": .reference(3)]), `class`("FBTweakStore"),
            .dictionary(["$class": .reference(4), "NS.objects": .array([.reference(5)])]),
            `class`("NSMutableArray"),
            .dictionary(["$class": .reference(6), "name": .reference(7), "collections": .reference(8)]),
            `class`("FBTweakCategory"), .text("Spring-2"),
            .dictionary(["$class": .reference(4), "NS.objects": .array([.reference(9)])]),
            .dictionary(["$class": .reference(10), "name": .reference(11), "tweaks": .reference(12)]),
            `class`("FBTweakCollection"), .text("Physics"),
            .dictionary([
                "$class": .reference(4),
                "NS.objects": .array(values.indices.map { .reference(tweaks + UInt8($0) * 3) }),
            ]),
            `class`("FBTweak"), `class`("UIColor"),
        ]
        for (index, value) in values.enumerated() {
            let place = tweaks + UInt8(index) * 3
            objects += [
                .dictionary([
                    "$class": .reference(13), "name": .reference(place + 1),
                    "identifier": .reference(place + 1), "defaultValue": .reference(0),
                    "currentValue": .reference(value == nil ? 0 : place + 2),
                ]), .text(names?[index] ?? "Value \(index)"), value ?? .text("unused"),
            ]
        }
        return archive(objects)
    }

    /// The colour in ``export(_:)``.
    public static func color(_ members: [String: Plist]) -> Plist {
        .dictionary(members.merging(["$class": .reference(14)]) { $1 })
    }
}
