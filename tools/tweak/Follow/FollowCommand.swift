// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandSupport
import Glibc
import TweakClient

struct FollowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "follow",
        abstract: "Give a running program the defaults that are edited in its sources.",
        discussion: """
            When a C, C++ or Swift source is saved, the literals of its defaults take effect in the program at once, \
            without a build, as one change per save. Each change is printed on a line. The command runs until it is \
            interrupted or the program ends.

            The values are leased, because the next build contains them: they take precedence over overrides but are not \
            kept, and when the command ends, the values below them return. In a process without the Tweaks library they \
            last until the process exits.

            Incomplete literals, expressions and values outside the limits change nothing and are reported once. The \
            sources are found as by tweak bake.
            """)

    @OptionGroup var folder: SourceFolderOption

    @Option(help: "The output format; JSON is one object per line.")
    var format: OutputFormat = .table

    @OptionGroup var target: ProgramOptions

    func run() throws {
        var followers: [SourceFollower] = []
        try target.forEach(.json) { program throws(Failure) in
            followers.append(try SourceFollower(of: program, from: folder.from, format))
        }
        if followers.count > 1 { for follower in followers { follower.showsTitle = true } }
        var exitCode: Int32?
        for follower in followers { follower.begin() }
        while !followers.isEmpty {
            followers = followers.filter { follower in
                do throws(Failure) { return try follower.follow() } catch {
                    error.write(about: follower.showsTitle ? follower.title : nil)
                    exitCode = exitCode ?? error.exitCode
                    return false
                }
            }
            fflush(nil)
            wait(for: followers)
        }
        if let exitCode { throw ExitCode(exitCode) }
    }

    private func wait(for followers: [SourceFollower]) {
        guard !followers.isEmpty else { return }
        var entries = followers.flatMap(\.descriptors).map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        let isPolling = followers.contains(where: \.isPolling)
        poll(&entries, nfds_t(entries.count), isPolling ? 250 : -1)
    }
}
