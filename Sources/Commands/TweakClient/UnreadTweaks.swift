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

    /// The time after which no further file is opened: a process may have mapped any number.
    private static let mostTime: Duration = .seconds(1)

    init(of name: String?) { self.name = name }

    mutating func warn(of answer: ChangeTweaks.Answer, _ warn: (Warning) -> Void) {
        let new = Set(answer.changes.filter { $0.givenValue != nil }.map(\.tweak)).subtracting(known)
        guard !new.isEmpty, let images = name.flatMap({ try? ProgramFile(named: $0) })?.images else { return }
        known.formUnion(new)
        let end = ContinuousClock.now + Self.mostTime
        let found = images.compactMap { image in
            .now < end ? try? ELFFile(path: image.path).readTweaks(among: new) : nil
        }
        let read = found.reduce(into: Set<TweakKey>()) { $0.formUnion($1.read) }
        for key in found.reduce(into: Set<TweakKey>(), { $0.formUnion($1.unread) }).subtracting(read).sorted()
        {
            warn(
                Warning("\(key): no code reads it; \(TweakDeclaration.reasonWhyUnread)", .unread, tweak: key))
        }
    }
}
