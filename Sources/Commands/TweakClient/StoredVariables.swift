// SPDX-License-Identifier: BSD-3-Clause
internal import CommandSupport
internal import Glibc
internal import TweakMemory
internal import TweakOverrides
internal import TweakProtocol
internal import TweakRecords
internal import TweakSystem

/// The values that this user's commands have stored in variables of a process without the library. Any other value of a
/// variable is the program's own.
///
/// They are in a file beside the sockets, named after the process and its start time, until that process has ended and
/// the next value is stored.
struct StoredVariables {
    private static let (start, end) = ("memory-", ".json")

    private let name: String

    init(of process: ProcessMemory) { name = Self.name(process.pid, process.startTime) }

    private static func name(_ pid: Int32, _ startTime: String) -> String {
        "\(start)\(pid)-\(startTime)\(end)"
    }

    private static var directory: ControlDirectory? { MemoryProgram.ownDirectory }

    func load() -> OverridesDocument {
        guard let directory = Self.directory, directory.isOfThisUser else { return OverridesDocument() }
        return (try? OverridesFile(path: directory.path + "/" + name).load()) ?? OverridesDocument()
    }

    /// Notes what was stored; `nil` for a variable that has the program's value again. Only with the lock of the memory.
    func note(_ values: [TweakKey: TweakValue?]) throws(Failure) {
        guard let directory = Self.directory else { return }
        do throws(ControlDirectory.Problem) { try directory.prepare(for: geteuid()) } catch {
            throw Failure("\(error)", .system)
        }
        // Also the locks of such files.
        for other in directoryEntries(directory.path) where other.hasPrefix(Self.start) {
            guard let pid = Int32(other.dropFirst(Self.start.count).prefix { $0 != "-" }) else { continue }
            let current = ProcessMemory.startTime(of: pid).map { Self.name(pid, $0) }
            if current.map(other.hasPrefix) != true { unlink(directory.path + "/" + other) }
        }
        _ = try failing { try OverridesFile(path: directory.path + "/" + name).update(values) }
    }
}
