import Glibc
import TweakELF
import TweakRecords
import TweakText

/// What was found in the files of a command line.
struct Dump {
    struct Problem {
        let message: String
        let exitCode: Int32
        /// The object and what is wrong in it, if it was read and has an invalid record.
        var invalidRecord: (path: String, error: RecordError)?
    }

    private(set) var images: [ImageDump] = []
    private(set) var problems: [Problem] = []
    private var seen: Set<String> = []

    mutating func add(_ path: String, withLibraries: Bool) {
        do throws(ELFError) {
            let file = try ELFFile(path: path)
            seen.insert(path)
            images += try dump(file)
            guard withLibraries else { return }
            for library in try file.neededLibraries() where seen.insert(library.path).inserted {
                images += try dump(library).filter { !$0.tweaks.isEmpty }
            }
        } catch {
            let isMissing = if case .cannotOpen = error { true } else { false }
            problems.append(
                Problem(message: printable("\(error)"), exitCode: isMissing ? EX_NOINPUT : EX_DATAERR))
        }
    }

    private mutating func dump(_ file: ELFFile) throws(ELFError) -> [ImageDump] {
        var images: [ImageDump] = []
        var errors: [Problem] = []
        try file.forEachObject { (object) throws(ELFError) in
            var tweaks: [TweakDeclaration] = []
            for range in try object.recordRanges() {
                let section = try object.records(in: range)
                tweaks += section.tweaks.map(\.declaration)
                errors += section.errors.map {
                    Problem(
                        message: printable("\(object.path): \($0)"), exitCode: EX_DATAERR,
                        invalidRecord: (object.path, $0))
                }
            }
            images.append(
                ImageDump(
                    path: object.path, architecture: object.architecture,
                    buildID: try object.buildID()?.hexadecimal,
                    tweaks: tweaks))
        }
        problems += errors
        return images
    }
}

/// The tweaks of one object.
struct ImageDump {
    let path: String
    let architecture: String
    let buildID: String?
    let tweaks: [TweakDeclaration]
}

extension [UInt8] {
    fileprivate var hexadecimal: String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
