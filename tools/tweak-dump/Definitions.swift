// SPDX-License-Identifier: BSD-3-Clause
import TweakCompilation
import TweakELF
import TweakRecords
import TweakSources
import TweakSystem

/// The macros that are defined as the tweaks of a linked file. Its records only name the places that use them, so the
/// sources are asked, where they are.
final class Definitions {
    private var baking: SourceBaking
    /// The working directories of the compiler, by the declarations' places.
    private let folders: [String: String]

    init(_ object: ELFObject, _ ranges: [RecordRange]) throws(ELFError) {
        var records: [(location: String, address: UInt64)] = []
        for range in ranges {
            records += try object.records(in: range).tweaks.compactMap { tweak in
                tweak.declaration.location.map { ($0, range.address &+ UInt64(clamping: tweak.offset)) }
            }
        }
        let found = try? object.compilationFolders(ofVariablesAt: Set(records.map(\.address)))
        folders = records.reduce(into: [:]) { $0[$1.location] = found?.ofVariables[$1.address] }
        baking = SourceBaking(
            folders: SourceFolders(
                given: nil, compiled: found?.all ?? [], working: realPath(".") ?? "/", program: object.path),
            isWriting: false)
    }

    /// Where a tweak is declared, if that is not the place in its record; the text for people.
    func text(of tweak: TweakDeclaration) -> String? {
        let compiled = CompiledDeclaration(tweak, in: tweak.location.flatMap { folders[$0] })
        let found = baking.definitions(of: compiled).map { "\($0.macro) at \($0.path):\($0.line)" }
        return found.isEmpty ? nil : found.joined(separator: ", ")
    }
}
