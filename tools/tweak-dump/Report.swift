import ArgumentParser
import CommandSupport
import Glibc
import TweakELF
import TweakRecords

/// What becomes of what is found.
protocol Report: AnyObject {
    /// Takes the tweaks of an image.
    ///
    /// - Parameter isShownEmpty: Whether to mention it if it has none.
    /// - Returns: Whether one of its records is invalid.
    func add(_ image: ImageDump, isShownEmpty: Bool) -> Bool

    /// Takes a section that has the name of those with records and cannot hold any.
    func addUnusable(_ section: UnusableSection, of image: ImageDump)

    /// Ends with the last image.
    func finish()
}

extension Report {
    func addUnusable(_ section: UnusableSection, of image: ImageDump) {
        printProblem("\(image.path): \(section)")
    }

    func tell(_ error: RecordError, of image: ImageDump) { printProblem("\(image.path): \(error)") }

    /// - Returns: Whether there are any.
    func tell(_ errors: [RecordError], of image: ImageDump) -> Bool {
        for error in errors { tell(error, of: image) }
        return !errors.isEmpty
    }
}

/// Writes a line to standard error, behind what has been written to standard output.
func printProblem(_ message: String) {
    fflush(nil)
    printMessage(message, of: "tweak-dump")
}

enum OutputFormat: String, CaseIterable, ExpressibleByArgument {
    case table, json, csv, markdown, overrides

    /// What writes the tweaks.
    var report: any Report {
        switch self {
        case .table: TableReport()
        case .json: JSONReport()
        case .csv: CSVReport()
        case .markdown: MarkdownReport()
        case .overrides: OverridesReport()
        }
    }
}
