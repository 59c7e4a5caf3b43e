// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import CommandSupport
import Dispatch
import Glibc
import RemoteValues
import TweakClient
import TweakFleet
import TweakRecords
import TweakSystem

/// Publishes the declarations of the applications' programs, when the agent starts and when a program is replaced.
struct BuildPublisher: Sendable {
    /// The state of an executable.
    private struct Program {
        let settings: EtcdSettings
        let path: String
        /// The last file that was read; `nil` if there was none.
        var version: FileVersion?
        /// The declarations in that file, until they are published.
        var build: DeclaredBuild?
        /// The time to read the same file again.
        var due = ContinuousClock.now
        var problem: String?
    }

    /// Distinguishes a file from the one that replaces it.
    private struct FileVersion: Equatable {
        let device: UInt64
        let inode: UInt64
        let size: Int
        let seconds, nanoseconds: Int

        init?(_ path: String) {
            guard let status = stat(path: path) else { return nil }
            (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
            (size, seconds, nanoseconds) = (
                Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec
            )
        }
    }

    private let programs: [Program]
    private let resources: SharedResources
    private let note: @Sendable (DeclaredBuild, _ application: String) -> Void
    private let notePublished: @Sendable (DeclaredBuild, _ application: String) -> Void
    private let say: @Sendable (String, _ application: String) -> Void

    /// The polling interval of the files.
    private static let interval: Duration = .seconds(60)
    /// The time after which a build that newer ones have displaced is published again.
    private static let renewal: Duration = .seconds(3600)
    /// The pause after a failure.
    private static let pause: Duration = .seconds(300)
    /// All hosts may get a new build at the same time, but only one publishes it.
    private static let spread: Range<Double> = 0..<30

    /// - Parameters:
    ///   - note: Called with each build that is read.
    ///   - notePublished: Called with each build that is published, perhaps by another host.
    ///   - say: Called with messages for people.
    init(
        _ fleet: [EtcdSettings], _ resources: SharedResources,
        note: @escaping @Sendable (DeclaredBuild, _ application: String) -> Void,
        notePublished: @escaping @Sendable (DeclaredBuild, _ application: String) -> Void,
        say: @escaping @Sendable (String, _ application: String) -> Void
    ) {
        programs = fleet.flatMap { settings in settings.programs.map { Program(settings: settings, path: $0) }
        }
        (self.resources, self.say) = (resources, say)
        (self.note, self.notePublished) = (note, notePublished)
    }

    /// Publishes once, or until the task is cancelled.
    func publish(isOnce: Bool) async {
        guard !programs.isEmpty else { return }
        var programs = programs
        while !Task.isCancelled {
            for index in programs.indices where !Task.isCancelled { await read(&programs[index]) }
            if !isOnce { try? await Task.sleep(for: .seconds(.random(in: Self.spread))) }
            for index in programs.indices where !Task.isCancelled { await publish(&programs[index]) }
            if isOnce { return }
            try? await Task.sleep(for: Self.interval)
        }
    }

    /// Reads a file that is new, or whose build must be published again.
    private func read(_ program: inout Program) async {
        let version = FileVersion(program.path)
        guard version != program.version || program.due <= .now else { return }
        program.version = version
        do throws(Failure) {
            let build = try await Self.build(of: program.path)
            note(build, program.settings.name)
            program.build = build
        } catch {
            fail(&program, error)
        }
    }

    private func publish(_ program: inout Program) async {
        guard let build = program.build else { return }
        program.build = nil
        do throws(Failure) {
            let editor = try editor(program.settings)
            do throws(FleetProblem) {
                if try await editor.publish(build) {
                    say("\(program.path): build \(build.id) was published", program.settings.name)
                }
                notePublished(build, program.settings.name)
            } catch {
                throw Failure(error)
            }
            (program.due, program.problem) = (.now + Self.renewal, nil)
        } catch {
            fail(&program, error)
        }
    }

    private func fail(_ program: inout Program, _ failure: Failure) {
        if Task.isCancelled { return }
        if program.problem != failure.message {
            say("its declarations are not published: \(failure.message)", program.settings.name)
        }
        (program.due, program.problem) = (.now + Self.pause, failure.message)
    }

    private func editor(_ settings: EtcdSettings) throws(Failure) -> FleetEditor {
        do throws(FetchProblem) { return try FleetEditor(settings, sharing: resources) } catch {
            throw Failure(error.message, .misconfigured)
        }
    }

    /// Reads an executable and its libraries.
    private static func build(of path: String) async throws(Failure) -> DeclaredBuild {
        // Reading blocks a thread, of which Swift has one for each processor.
        let result = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(
                    returning: Result { () throws(Failure) in try DeclaredBuild(of: path) { _ in } })
            }
        }
        return try result.get()
    }
}
#endif
