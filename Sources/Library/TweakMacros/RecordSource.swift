// SPDX-License-Identifier: BSD-3-Clause
#if Macros
internal import SwiftSyntax
internal import TweakRecords

/// The Swift source of a record: a static variable in the section `fbtweak`.
struct RecordSource {
    var declaration: TweakDeclaration
    /// The name of the variable.
    var name = "record"
    /// The source of a C function pointer, for actions and types only.
    var function: String?
    /// The kind, if the declaration does not tell.
    var kind: UInt8?

    /// The compilation condition for tweaks. Only ELF has the section; elsewhere a tweak is its default, as in a
    /// release build.
    static let condition = "(DEBUG || FB_TWEAK_ENABLED) && !FB_TWEAK_DISABLED && \(hasELF)"
    #if compiler(>=6.3)
    private static let hasELF = "objectFormat(ELF)"
    #else
    private static let hasELF = "(os(Linux) || os(Android) || os(FreeBSD))"
    #endif

    /// The attributes of a variable in a section.
    static func attributes(section: String) -> String {
        #if compiler(>=6.3)
        "@section(\"\(section)\") @used"
        #else
        // Only with the experimental feature SymbolLinkageMarkers, which the compiler then asks for.
        "@_section(\"\(section)\") @_used"
        #endif
    }

    /// The index of the cell in the tuple.
    static let cell = RecordLayout.cellOffset / 8

    var variable: String {
        var unlocated = declaration
        unlocated.attributes.removeAll { $0.key == "at" }
        return Self.choice(source(of: declaration), unlocated: source(of: unlocated))
    }

    /// A record with the path of its source, or without if the module is compiled so.
    private static func choice(_ record: String, unlocated: String) -> String {
        if record == unlocated { return record }
        return """
            #if FB_TWEAK_NO_LOCATIONS
            \(unlocated)
            #else
            \(record)
            #endif
            """
    }

    /// The record as little-endian words of eight bytes: the compiler takes five times as long for single bytes, and
    /// longer for a large tuple than for an array.
    private func source(of declaration: TweakDeclaration) -> String {
        var bytes = declaration.record
        if let kind { bytes[RecordLayout.kindOffset] = kind }
        let words = stride(from: 0, to: bytes.count, by: 8).map { start in
            let word = bytes[start..<start + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return word == 0 ? "0" : "0x" + String(word, radix: 16)
        }
        let cellType =
            function == nil ? "Swift.UInt64" : "@convention(c) (Swift.UnsafeMutableRawPointer?) -> Swift.Void"
        let others = words.dropFirst(Self.cell + 1)
        return """
            \(Self.attributes(section: "fbtweak")) @exclusivity(unchecked)
            nonisolated(unsafe) static var \(name): (
                Swift.UInt64, \(cellType), Swift.InlineArray<\(others.count), Swift.UInt64>
            ) = (\(words[0]), \(function ?? words[Self.cell]), [\(others.joined(separator: ", "))])
            """
    }

    /// The records of a tweak: its own, and that by which the library learns an enumeration's cases.
    ///
    /// - Parameters:
    ///   - type: The enumeration in the source, if it is known.
    ///   - expression: The default.
    static func variables(
        _ declaration: TweakDeclaration, of type: String?, default expression: ExprSyntax
    ) -> String {
        let record = RecordSource(declaration: declaration).variable
        guard let type, let name = literalCase(expression) else { return record }
        let typeRecord = RecordSource(
            declaration: TweakDeclaration(
                key: declaration.key, type: .action, defaultValue: .string(name)),
            name: "type",
            function: "{ unsafe Tweaks.__describe(\(type).self, to: $0) }", kind: RecordLayout.typeKind)
        return record + "\n" + typeRecord.variable
    }

    /// The record of a gate with its mailbox, which is empty.
    ///
    /// - Parameters:
    ///   - texts: The category, the collection, and two empty texts.
    ///   - place: The attribute with the place in the source.
    static func gate(texts: [String], at place: String?) -> String {
        choice(gate(texts: texts + (place.map { [$0] } ?? [])), unlocated: gate(texts: texts))
    }

    private static func gate(texts: [String]) -> String {
        let stores = 64
        var text: [UInt8] = texts.flatMap { Array($0.utf8) + [0] }
        text += [UInt8](repeating: 0, count: 8 - text.count % 8)
        let distance = RecordLayout.textOffset + text.count
        let size = distance + stores * RecordLayout.gateStoreSize
        let head = UInt64(RecordLayout.gateKind) << 40 | UInt64(RecordLayout.version) << 32 | UInt64(size)
        let textWords = stride(from: 0, to: text.count, by: 8).map { start in
            text[start..<start + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        let words =
            [UInt64(distance) << 32 | UInt64(stores), 0, 0, 0] + textWords
            + [UInt64](repeating: 0, count: stores * RecordLayout.gateStoreSize / 8)
        let others = words.map { $0 == 0 ? "0" : "0x" + String($0, radix: 16) }
        return """
            \(attributes(section: "fbtweak")) @exclusivity(unchecked)
            nonisolated(unsafe) static var record: (
                Swift.UInt64, Swift.UInt64, Swift.InlineArray<\(others.count), Swift.UInt64>
            ) = (0x\(String(head, radix: 16)), 0, [\(others.joined(separator: ", "))])
            """
    }
}
#endif
