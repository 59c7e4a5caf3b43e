// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Glibc
import TweakELF
import TweakMemory
import TweakSystem

/// Reads the files of a command line, one image after the other, and passes each to a report.
struct Dump {
    /// The inputs besides the named files.
    struct Scope {
        /// The files below folders.
        var isRecursive = false
        /// The shared libraries that a file needs.
        var hasLibraries = false
        /// Whether the files are checked, so that what is not read is a failure.
        var isCheck = false
        /// Whether to find the records that no code reads.
        var findsUnread = false
        /// Whether to find the macros that are defined as tweaks.
        var readsSources = false
    }

    private let report: any Report
    private let scope: Scope
    let selection: Selection
    private var seen: Set<ELFFile.Identity> = []
    private var walk = DirectoryWalk()
    /// The exit status of the command.
    private(set) var exitCode = EXIT_SUCCESS
    /// Whether no image was reported and no failure either.
    var hasNothing: Bool { imageCount == 0 && exitCode == EXIT_SUCCESS }
    private var imageCount = 0

    init(_ report: any Report, _ scope: Scope, _ selection: Selection) {
        (self.report, self.scope, self.selection) = (report, scope, selection)
    }

    /// Reads a file, the files below a folder, or standard input.
    mutating func add(_ path: String) {
        if path == "-" {
            do throws(ELFError) { try add(openStandardInput(), isNamed: true) } catch { tell(error) }
        } else if stat(path: path)?.isDirectory == true {
            guard scope.isRecursive else {
                return tell(.notELF(path: path, reason: "it is a directory; use --recursive"))
            }
            add(folder: path)
        } else {
            do throws(ELFError) { try add(ELFFile(path: path), isNamed: true) } catch { tell(error) }
        }
    }

    /// Reads the files below a folder; an empty path is the current folder. Files that are not ELF, and do not become ELF
    /// files, are skipped.
    mutating func add(folder: String) {
        var walk = walk
        walk.forEachFile(below: folder) { path in
            do throws(ELFError) {
                let file = try ELFFile(path: path)
                guard seen.insert(file.identity).inserted else { return }
                try add(file, isNamed: false)
            } catch .notELF {
            } catch .unread where path.hasSuffix(".bc") {
                // Bitcode by its name is for compilers at run time, and no object file that will be linked.
            } catch { tell(error) }
        } failed: {
            tell($0)
        }
        self.walk = walk
    }

    private mutating func add(_ file: ELFFile, isNamed: Bool) throws(ELFError) {
        seen.insert(file.identity)
        try addObjects(of: file, isNamed: isNamed)
        guard scope.hasLibraries else { return }
        for library in try file.neededLibraries() where seen.insert(library.identity).inserted {
            do throws(ELFError) { try addObjects(of: library, isNamed: false) } catch { tell(error) }
        }
    }

    private mutating func addObjects(of file: ELFFile, isNamed: Bool) throws(ELFError) {
        var left: [ELFError] = []
        var isEmpty = true
        defer { for error in left { tell(error) } }
        try file.forEachObject(noting: { left.append($0) }) { (object) throws(ELFError) in
            for error in left { tell(error) }
            (left, isEmpty) = ([], false)
            var unusable: [UnusableSection] = []
            do throws(ELFError) {
                let image = try ImageDump(
                    object, selection, findsUnread: scope.findsUnread, readsSources: scope.readsSources
                ) { unusable.append($0) }
                add(image, isShownEmpty: isNamed, unusable)
            } catch .broken(let path, let reason) where path != file.path {
                // Sections that contradict each other are made to waste time.
                tell(.broken(path: path, reason: reason))
                throw .unread(path: file.path, reason: "the members after a broken one")
            } catch {
                tell(error)
            }
        }
        guard isEmpty, left.isEmpty, isNamed else { return }
        if scope.isCheck {
            // It may be the start of a file that was cut off.
            throw .unread(path: file.path, reason: "an archive without members")
        }
        report.addEmptyArchive(file.path)
    }

    /// Reports an image from any source.
    mutating func add(_ image: ImageDump, isShownEmpty: Bool, _ unusable: [UnusableSection] = []) {
        imageCount += 1
        let isInvalid = report.add(image, isShownEmpty: isShownEmpty)
        for section in unusable { report.addUnusable(section, of: image) }
        if isInvalid || !unusable.isEmpty { end(with: .invalid) }
    }

    /// Reports a file, or a part of it, that was not read.
    private mutating func tell(_ error: ELFError) {
        printProblem("\(error)")
        switch error {
        case .skipped: return
        case .debugOnly where !scope.isCheck: return
        default: end(with: error.kind)
        }
    }

    /// The gravest failure has the highest status, and counts.
    mutating func end(with kind: FailureKind) { exitCode = max(exitCode, kind.exitCode) }
}
