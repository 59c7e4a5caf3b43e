// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandSupport
import Glibc
import TweakELF
import TweakMemory
import TweakRecords
import TweakSystem

/// The inputs besides files.
struct MemoryInputs: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A process whose tweaks to show with their current values.",
            discussion: "Its memory is read without stopping it.", valueName: "process"))
    var pid: [Int32] = []

    @Option(
        help: ArgumentHelp(
            "A core whose tweaks to show with the values at that time.",
            discussion: "Missing parts are read from the loaded files if their build ids match.",
            valueName: "file"),
        completion: .file())
    var core: [String] = []

    var isEmpty: Bool { pid.isEmpty && core.isEmpty }

    func add(to dump: inout Dump) {
        for process in pid { dump.add(process: process) }
        for file in core { dump.add(core: file) }
    }
}

extension Dump {
    /// Reports the tweaks of a process with their current values, with or without the Tweaks library. The process does
    /// not notice.
    fileprivate mutating func add(process pid: Int32) {
        let executable = executablePath(of: "\(pid)")
        add("process \(pid)", executable) { () throws(MemoryError) in
            let process = try ProcessMemory(pid: pid)
            let tweaks = try MemoryTweaks(in: process, executable: executable)
            // The memory map is readable by more users than the memory.
            if tweaks.found.sawNothing { try process.checkAccess() }
            return tweaks
        }
    }

    /// Reports the tweaks of a core with the values at that time.
    fileprivate mutating func add(core path: String) {
        var executable: String?
        add(path, nil) { () throws(MemoryError) in
            let core = try CoreMemory(path: path)
            executable = core.executable
            return try MemoryTweaks(in: core, executable: executable)
        }
    }

    private mutating func add(
        _ title: String, _ executable: String?, _ read: () throws(MemoryError) -> MemoryTweaks
    ) {
        do throws(MemoryError) {
            let tweaks = try read()
            let found = tweaks.found
            let isEmpty = found.images.isEmpty
            for image in isEmpty ? found.executable.map({ [$0] }) ?? [] : found.images {
                add(ImageDump(image, tweaks.values(in: image), selection), isShownEmpty: isEmpty)
            }
            for problem in tweaks.found.problems {
                printProblem("\(title): \(problem)")
                end(with: .missing)
            }
        } catch {
            // Errors of a core name it.
            printProblem(executable == nil && !title.hasPrefix("process") ? "\(error)" : "\(title): \(error)")
            end(with: error.kind)
        }
    }
}

extension ImageDump {
    /// An image in memory.
    ///
    /// - Parameter values: The current values of each section, by the offsets of the records.
    fileprivate init(_ image: MemoryImage, _ values: [[Int: TweakValue]], _ selection: Selection) {
        self.init(
            path: image.path, architecture: image.architecture,
            buildID: image.headers.notes.buildID?.hexadecimal,
            byteOrder: image.headers.byteOrder,
            sections: zip(image.sections, values).map { Section(bytes: $0.bytes, values: $1) }, selection)
    }
}
