import CommandSupport
import Glibc
import TweakELF

/// Reads what a command line names, one image after the other, and hands on at once what is in it.
struct Dump {
    private let report: any Report
    private var seen: Set<String> = []
    /// The status that the command ends with.
    private(set) var exitCode = EXIT_SUCCESS

    init(_ report: any Report) { self.report = report }

    mutating func add(_ path: String, withLibraries: Bool) {
        do throws(ELFError) {
            let file = try ELFFile(path: path)
            seen.insert(path)
            try add(file, asLibrary: false)
            guard withLibraries else { return }
            for library in try file.neededLibraries() where seen.insert(library.path).inserted {
                do throws(ELFError) { try add(library, asLibrary: true) } catch { tell(error) }
            }
        } catch {
            tell(error)
        }
    }

    private mutating func add(_ file: ELFFile, asLibrary: Bool) throws(ELFError) {
        var left: [ELFError] = []
        defer { for error in left { tell(error) } }
        try file.forEachObject(noting: { left.append($0) }) { (object) throws(ELFError) in
            for error in left { tell(error) }
            left = []
            var unusable: [UnusableSection] = []
            let image = try ImageDump(object) { unusable.append($0) }
            add(image, isShownEmpty: !asLibrary, unusable)
        }
    }

    /// Hands on an image, wherever it comes from.
    mutating func add(_ image: ImageDump, isShownEmpty: Bool, _ unusable: [UnusableSection] = []) {
        let isInvalid = report.add(image, isShownEmpty: isShownEmpty)
        for section in unusable { report.addUnusable(section, of: image) }
        if isInvalid || !unusable.isEmpty { end(with: EX_DATAERR) }
    }

    /// Says what could not be read.
    private mutating func tell(_ error: ELFError) {
        printProblem("\(error)")
        // Then the rest of the archive was read.
        if case .skipped = error { return }
        end(with: Failure(error).exitCode)
    }

    /// The gravest counts, which has the highest number.
    private mutating func end(with code: Int32) { exitCode = max(exitCode, code) }
}
