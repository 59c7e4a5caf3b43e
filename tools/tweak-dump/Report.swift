// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandSupport
import Glibc
import TweakELF
import TweakRecords

/// Receives the images that are found.
protocol Report: AnyObject {
    /// Reports the tweaks of an image.
    ///
    /// - Parameter isShownEmpty: Whether to mention an image without tweaks.
    /// - Returns: Whether a record is invalid, or the format cannot describe the image.
    func add(_ image: ImageDump, isShownEmpty: Bool) -> Bool

    /// Reports a section with the name of record sections that cannot contain records.
    func addUnusable(_ section: UnusableSection, of image: ImageDump)

    /// Reports a named archive without members.
    func addEmptyArchive(_ path: String)

    /// Called after the last image.
    func finish()
}

extension Report {
    func addUnusable(_ section: UnusableSection, of image: ImageDump) {
        printProblem("\(image.path): \(section)")
    }

    func addEmptyArchive(_ path: String) {}

    func tell(_ error: RecordError, of image: ImageDump) { printProblem("\(image.path): \(error)") }

    /// - Returns: Whether there are any.
    func tell(_ errors: [RecordError], of image: ImageDump) -> Bool {
        for error in errors { tell(error, of: image) }
        return !errors.isEmpty
    }
}

/// Writes a line to standard error, after flushing standard output.
func printProblem(_ message: String) {
    fflush(nil)
    printMessage(message, of: "tweak-dump")
}

enum OutputFormat: String, CaseIterable, ExpressibleByArgument {
    case table, json, csv, markdown, overrides, a2l

    /// The report in this format.
    var report: any Report {
        switch self {
        case .table: TableReport()
        case .json: JSONReport()
        case .csv: CSVReport()
        case .markdown: MarkdownReport()
        case .overrides: OverridesReport()
        case .a2l: A2LReport()
        }
    }
}
