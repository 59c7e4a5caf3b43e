// SPDX-License-Identifier: BSD-3-Clause
internal import CommandSupport
internal import TweakELF
internal import TweakProtocol
internal import TweakRecords

/// Warns of changes to tweaks that no code of a program reads, each once. The files are read when something changes. A
/// process with the library warns of them itself.
struct UnreadTweaks {
    /// The executable: a path, or the id of a process.
    private let name: String?
    private var keys: Set<TweakKey>?

    init(of name: String?) { self.name = name }

    mutating func warn(of answer: ChangeTweaks.Answer, _ warn: (Warning) -> Void) {
        var unread = keys ?? find()
        for change in answer.changes where change.givenValue != nil && unread.remove(change.tweak) != nil {
            warn(Warning(ControlWarning(unread: change.tweak).message, .unread, tweak: change.tweak))
        }
        keys = unread
    }

    private func find() -> Set<TweakKey> {
        let images = name.flatMap { try? ProgramFile(named: $0) }?.images ?? []
        return images.reduce(into: []) { keys, image in
            if let unread = try? ELFFile(path: image.path).unreadTweaks() { keys.formUnion(unread) }
        }
    }
}
