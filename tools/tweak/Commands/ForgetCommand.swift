// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandCompletion
import CommandSupport
import Glibc
import TweakClient
import TweakRecords

struct ForgetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget", abstract: "Remove everything that is kept for a program.",
        discussion: """
            Removes the folder $XDG_CONFIG_HOME/tweaks/<name of the executable> with overrides, presets, panels of the page \
            and adopted variables, after listing its files and asking. The program must not be running. This cannot be \
            undone; save the values with tweak export first. Recordings, and values written by an agent, stay.
            """)

    @Flag(help: "Remove the files without asking.")
    var yes = false

    @Flag(help: "Only show the files.")
    var dryRun = false

    @Option(help: "The output format.")
    var format: OutputFormat = .table

    @Argument(
        help: "The name of the program, or the path of its executable.",
        completion: .custom(completeKeptPrograms))
    var program: String

    func validate() throws {
        guard format == .table || yes || dryRun else {
            throw ValidationError("--format json needs --yes or --dry-run.")
        }
        guard !(yes && dryRun) else { throw ValidationError("Give either --yes or --dry-run, not both.") }
    }

    func run() throws {
        try Failure.reported { () throws(Failure) in
            let kept = try KeptFiles(named: program, warn: warn)
            try kept.checkIsNotRunning()
            let files = try kept.files()
            if format == .table { show(files, of: kept) }
            for folder in kept.agentFolders {
                printMessage("\(kept.application): the values that an agent has written to \(folder) stay")
            }
            if !dryRun {
                try confirm()
                try kept.checkIsNotRunning()
                try kept.remove()
            }
            switch format {
            case .table: if !dryRun { print(printable("\(kept.folder) was removed")) }
            case .json:
                let form = Form(
                    application: kept.application, folder: kept.folder, files: files, isRemoved: !dryRun)
                do { try printJSON(form) } catch { throw Failure(error) }
            }
        }
    }

    private func show(_ files: [KeptFiles.File], of kept: KeptFiles) {
        guard !files.isEmpty else { return print(printable("\(kept.folder): no files")) }
        print(printable(kept.folder))
        let rows = files.map { file in
            [file.path, "\(file.size)", file.target.map { "a link; \($0) stays" } ?? ""]
        }
        print(TextTable(header: ["FILE", "BYTES", "NOTE"], rows: rows).text)
    }

    private func confirm() throws(Failure) {
        guard !yes else { return }
        fflush(nil)
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
            throw Failure("nothing was removed; --yes removes the files without asking", .usage)
        }
        guard isConfirmed("Remove the files? This cannot be undone. [y/N]", byDefault: false) else {
            throw Failure("nothing was removed", .negative)
        }
    }

    /// The JSON form. Scripts rely on its keys.
    private struct Form: Encodable {
        let application, folder: String
        let files: [KeptFiles.File]
        let isRemoved: Bool
    }
}
