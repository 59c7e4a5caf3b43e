// SPDX-License-Identifier: BSD-3-Clause
#if Macros
internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacros
internal import TweakRecords

/// `#tweakApplication(name)`: a note with the program's name, see `RecordFormat.md`.
enum TweakApplicationMacro: DeclarationMacro {
    static var formatMode: FormatMode { .disabled }

    static func expansion(
        of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        try context.checkPlace(of: node, isMember: true, instead: "write #tweakApplication in a file")
        guard let argument = node.arguments.first?.expression else {
            throw DiagnosticsError.tweak("a name is needed", at: node)
        }
        let name = Array(try literalText(argument, what: "the name of an application").utf8)
        guard 1...200 ~= name.count, !name.contains(UInt8(ascii: "/")), name != [0x2E], name != [0x2E, 0x2E]
        else {
            throw DiagnosticsError.tweak(
                "the name of an application has 1 to 200 bytes, no slash, and is not . or ..", at: argument)
        }
        // The note's name, and its content padded with at least one NUL to a whole word.
        let note = Array("FBTweak\0".utf8) + name + [UInt8](repeating: 0, count: 4 - name.count % 4)
        let words = stride(from: 0, to: note.count, by: 4).map { start in
            "0x"
                + String(
                    note[start..<start + 4].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }, radix: 16)
        }
        return [
            """
            #if \(raw: RecordSource.condition)
            nonisolated enum \(context.makeUniqueName("tweakApplication")) {
                \(raw: RecordSource.attributes(section: ".note.fbtweak.application"))
                static let note: (Swift.UInt32, Swift.UInt32, Swift.UInt32, Swift.InlineArray<\(raw: words.count), Swift.UInt32>) =
                    (8, \(raw: note.count - 8), \(raw: NoteType.application.rawValue), [\(raw: words.joined(separator: ", "))])
            }
            #endif
            """
        ]
    }
}
#endif
