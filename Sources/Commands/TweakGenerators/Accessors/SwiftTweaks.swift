// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

/// The tweaks of an accessor in Swift.
struct SwiftTweaks {
    struct Handle {
        /// The name in code.
        let name: String
        /// The texts for people, with the names of their macro arguments and attributes.
        let texts: [(argument: String, attribute: String, text: String)]
        let key: TweakKey
        /// The source code of the key.
        let keySource: String
        let defaultValue: TweakValue

        /// The tweak's type, and its name in Swift; `nil` for types that no file has.
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

    /// A structure with a handle for each tweak.
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

    /// The longest text in a record, in bytes. The time to compile a record grows with the square of its length: 10,000
    /// bytes take 16 s. A tweak with a longer text is made at run time.
    private static let longestText = 1000

    /// Records, so that commands know the tweaks of a program that is not running. A release build has none.
    var records: [String] {
        let records = handles.compactMap { handle -> String? in
            guard let type = Handle.type(of: handle.defaultValue)?.type,
                handle.defaultValue.description.utf8.count <= Self.longestText
            else { return nil }
            let record = TweakDeclaration(
                key: handle.key, type: type, defaultValue: handle.defaultValue,
                attributes: handle.texts.map { .init(key: $0.attribute, value: $0.text) }
            ).record
            // In words of eight bytes, because single bytes take the compiler five times as long.
            let words = stride(from: 0, to: record.count, by: 8).map { start in
                record[start..<start + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            }
            let types = Array(repeating: "UInt64", count: words.count).joined(separator: ", ")
            let values = words.map { $0 == 0 ? "0" : "0x" + String($0, radix: 16) }.joined(separator: ", ")
            // The compiler of a file that is kept may be another one.
            return """
                    #if compiler(>=6.3)
                    @section("fbtweak") @used
                    #else
                    @_section("fbtweak") @_used
                    #endif
                    @exclusivity(unchecked)
                    nonisolated(unsafe) static var \(Identifier.swift(handle.name)): (\(types)) =
                        (\(values))
                """
        }
        guard !records.isEmpty else { return [] }
        return [
            "", "#if (DEBUG || FB_TWEAK_ENABLED) && !FB_TWEAK_DISABLED", "nonisolated private enum Records {",
        ]
            + records + ["}", "#endif"]
    }
}
