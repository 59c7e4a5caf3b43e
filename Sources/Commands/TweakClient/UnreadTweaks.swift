// SPDX-License-Identifier: BSD-3-Clause
internal import CommandSupport
internal import TweakELF
internal import TweakProtocol
internal import TweakRecords

/// Warns of changes to tweaks that no code of a program reads, each once. It looks into the files of the program.
struct UnreadTweaks {
    /// The executable: a path, or the id of a process.
    private let name: String?
    /// The tweaks that were looked for.
    private var known: Set<TweakKey> = []

    init(of name: String?) { self.name = name }

    mutating func warn(of answer: ChangeTweaks.Answer, _ warn: (Warning) -> Void) {
        let new = Set(answer.changes.filter { $0.givenValue != nil }.map(\.tweak)).subtracting(known)
        guard !new.isEmpty, let images = name.flatMap({ try? ProgramFile(named: $0) })?.images else { return }
        known.formUnion(new)
        let found = images.compactMap { try? ELFFile(path: $0.path).readTweaks(among: new) }
        let read = found.reduce(into: Set<TweakKey>()) { $0.formUnion($1.read) }
        for key in found.reduce(into: Set<TweakKey>(), { $0.formUnion($1.unread) }).subtracting(read).sorted()
        {
            warn(
                Warning("\(key): no code reads it; \(TweakDeclaration.reasonWhyUnread)", .unread, tweak: key))
        }
    }
}
