import CommandSupport
import Glibc
import TweakELF
import TweakRecords

/// Reads the files of a command line, one object after the other, and hands on at once what is in them.
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
            let invalid = report.add(image, isShownEmpty: !asLibrary)
            for section in unusable { report.addUnusable(section, of: image) }
            if invalid || !unusable.isEmpty { end(with: EX_DATAERR) }
        }
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

/// What becomes of what is found in the files.
protocol Report: AnyObject {
    /// Takes the tweaks of an object.
    ///
    /// - Parameter isShownEmpty: Whether to mention it if it has none.
    /// - Returns: Whether one of its records is invalid.
    func add(_ image: ImageDump, isShownEmpty: Bool) -> Bool

    /// Takes a section that has the name of those with records and cannot hold any.
    func addUnusable(_ section: UnusableSection, of image: ImageDump)

    /// Ends with the last object.
    func finish()
}

extension Report {
    func addUnusable(_ section: UnusableSection, of image: ImageDump) {
        printProblem("\(image.path): \(section)")
    }
}

/// Writes a line to standard error, behind what has been written to standard output.
func printProblem(_ message: String) {
    fflush(nil)
    printMessage(message, of: "tweak-dump")
}

/// One object, with the bytes of its records. They are decoded each time that they are needed: a record takes ten times
/// the memory then.
struct ImageDump {
    let path: String
    let architecture: String
    let buildID: String?
    private let byteOrder: ByteOrder
    private let sections: [[UInt8]]

    /// Where a record is.
    struct Place {
        fileprivate let section: Int
        fileprivate let range: Range<Int>
    }

    init(_ object: ELFObject, noting note: (UnusableSection) -> Void) throws(ELFError) {
        path = object.path
        architecture = object.architecture
        byteOrder = object.byteOrder
        buildID = try object.buildID()?.map { $0.digits(2, radix: 16) }.joined()
        var sections: [[UInt8]] = []
        for range in try object.recordRanges(noting: note) { sections.append(try object.bytes(of: range)) }
        self.sections = sections
    }

    /// Decodes all records.
    ///
    /// - Parameters:
    ///   - invalid: Is called with what is wrong with those that are invalid.
    ///   - body: Is called with the others.
    func forEachTweak(
        invalid: (RecordError) -> Void = { _ in }, _ body: (TweakDeclaration, Place) -> Void
    ) {
        for (section, bytes) in sections.enumerated() {
            var walk = RecordWalk()
            while true {
                do throws(RecordError) {
                    guard let range = try walk.next(in: bytes.span.bytes, byteOrder: byteOrder) else { break }
                    let place = Place(section: section, range: range)
                    body(try decode(place), place)
                } catch {
                    invalid(error)
                }
            }
        }
    }

    /// Decodes a record that was valid.
    func tweak(at place: Place) -> TweakDeclaration? { try? decode(place) }

    private func decode(_ place: Place) throws(RecordError) -> TweakDeclaration {
        // A place is made by the walk through these sections.
        let bytes = sections[place.section]
        return try TweakDeclaration(record: bytes.span.bytes, in: place.range, byteOrder: byteOrder)
    }
}
