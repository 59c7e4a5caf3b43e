internal import TweakRecords

/// The tweaks of an accessor in Swift.
struct SwiftTweaks {
    struct Handle {
        /// What code calls it.
        let name: String
        /// What a person sees of it, by the names of arguments and of attributes.
        let texts: [(argument: String, attribute: String, text: String)]
        let key: TweakKey
        /// The source of the key.
        let keySource: String
        let defaultValue: TweakValue

        /// The tweak's type and how Swift writes it; `nil` for those that no file has.
        static func type(of value: TweakValue) -> (type: TweakType, name: String)? {
            switch value {
            case .bool: (.bool, "Bool")
            case .integer(let number): Int64(exactly: number).map { _ in (.int64, "Int") }
            case .double: (.double, "Double")
            case .string: (.string, "String")
            case .color, .nothing: nil
            }
        }

        var typeName: String { Self.type(of: defaultValue)?.name ?? "" }

        fileprivate var defaultSource: String {
            if case .string(let text) = defaultValue { swiftLiteral(text) } else { "\(defaultValue)" }
        }

        init(
            name: String, title: String? = nil, description: String?, group: String? = nil, key: TweakKey,
            keySource: String, defaultValue: TweakValue
        ) {
            (self.name, self.key, self.keySource, self.defaultValue) = (name, key, keySource, defaultValue)
            texts = [
                ("title", "title", title), ("description", "doc", description), ("group", "group", group),
            ].compactMap { argument, attribute, text in summary(text).map { (argument, attribute, $0) } }
        }
    }

    let handles: [Handle]

    /// A structure with a handle of each.
    var declaration: [String] {
        let properties = handles.map { "        let \(Identifier.swift($0.name)): Tweak<\($0.typeName)>" }
        let values = handles.map { handle in
            let texts = handle.texts.map { ", \($0.argument): \(swiftLiteral($0.text))" }.joined()
            return "            self.\(Identifier.swift(handle.name)) = store.tweak(\(handle.keySource), "
                + "default: \(handle.defaultSource)\(texts))"
        }
        return [
            "    /// The tweaks by name, to observe, set and reset them.", "    struct Handles: Sendable {",
        ]
            + properties + ["", "        init(_ store: TweakStore) {"] + values + ["        }", "    }"]
    }

    /// The longest text that a record has, in bytes. The time to compile one grows with the square of its length: 10,000
    /// bytes take 16 s. A tweak with a longer text is made when the program runs.
    private static let longestText = 1000

    /// Records, by which commands know the tweaks of a program that does not run. In a release build there are none.
    var records: [String] {
        let records = handles.compactMap { handle -> String? in
            guard let type = Handle.type(of: handle.defaultValue)?.type,
                handle.defaultValue.description.utf8.count <= Self.longestText
            else { return nil }
            let record = TweakDeclaration(
                key: handle.key, type: type, defaultValue: handle.defaultValue,
                attributes: handle.texts.map { .init(key: $0.attribute, value: $0.text) }
            ).record
            // Everything in words of eight bytes: the compiler takes five times as long for single bytes.
            let words = stride(from: 0, to: record.count, by: 8).map { start in
                record[start..<start + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            }
            let types = Array(repeating: "UInt64", count: words.count).joined(separator: ", ")
            let values = words.map { $0 == 0 ? "0" : "0x" + String($0, radix: 16) }.joined(separator: ", ")
            return "    @section(\"fbtweak\") @used @exclusivity(unchecked)\n"
                + "    nonisolated(unsafe) static var \(Identifier.swift(handle.name)): (\(types)) =\n"
                + "        (\(values))"
        }
        guard !records.isEmpty else { return [] }
        return [
            "", "#if (DEBUG || FB_TWEAK_ENABLED) && !FB_TWEAK_DISABLED", "nonisolated private enum Records {",
        ]
            + records + ["}", "#endif"]
    }
}
