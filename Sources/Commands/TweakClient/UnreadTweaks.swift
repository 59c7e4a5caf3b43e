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
        let changes = answer.changes.filter { $0.givenValue != nil && $0.isReadOtherwise != true }
        let new = Set(changes.map(\.tweak)).subtracting(known)
        guard !new.isEmpty, let images = name.flatMap({ try? ProgramFile(named: $0) })?.images else { return }
        known.formUnion(new)
        let records = UnreadRecords(of: new)
        for image in images { records.search(image.path) }
        for warning in records.warnings.sorted(by: { $0.tweak < $1.tweak }) {
            warn(Warning(warning.message, .unread, tweak: warning.tweak))
        }
    }
}
