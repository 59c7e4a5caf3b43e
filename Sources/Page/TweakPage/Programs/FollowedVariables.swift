// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Glibc
import TweakClient
import TweakOverrides
import TweakRecords
import TweakProtocol

/// The adopted variables of a program that its library does not store.
struct FollowedVariables {
    private let program: MemoryProgram
    private let sampler: MemorySampler
    private var known: [TweakValue?]

    /// The interval at which values are read.
    static let period: Duration = .milliseconds(100)

    /// - Parameter declared: The names of the declared tweaks, which come first.
    /// - Returns: `nil` if there are none, or they cannot be read.
    init?(of pid: pid_t, besides declared: Set<TweakKey>) {
        do throws(Failure) {
            guard let program = try MemoryProgram(pid: pid, isBesideLibrary: true, warn: { _ in }) else {
                return nil
            }
            let keys = program.tweaks().map(\.declaration.key).filter { !declared.contains($0) }
            guard !keys.isEmpty else { return nil }
            sampler = try program.sampler(for: keys)
            known = try sampler.read()
            self.program = program
        } catch { return nil }
    }

    /// The variables with the values last read.
    var tweaks: [JSONTweak] {
        zip(sampler.declarations, known).map { program.status($0, $1) }
    }

    func contains(_ key: TweakKey) -> Bool { sampler.declarations.contains { $0.key == key } }

    /// Reads the values.
    ///
    /// - Returns: The variables with other values than before.
    mutating func changes() -> [JSONTweak] {
        guard let now = try? sampler.read() else { return [] }
        defer { known = now }
        return now.indices.filter { now[$0] != known[$0] }.map {
            program.status(sampler.declarations[$0], now[$0])
        }
    }

    /// A sampler for tweaks, with or without records, if all of them are in memory.
    func sampler(for keys: [TweakKey]) -> MemorySampler? { try? program.sampler(for: keys) }
}

extension FileState {
    /// The state of the file with the adopted variables of an application.
    init?(ofVariablesOf application: String) {
        guard let path = try? AdoptedFile(application: application).path else { return nil }
        self.init(path: path)
    }
}
