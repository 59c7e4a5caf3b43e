import Glibc
import TweakELF
import TweakText
import Tweaks

/// A program that is not running, by its binary and its overrides file.
struct Program {
    let path: String
    let application: String
    /// First declarations, in the order in which the running program would find them.
    let tweaks: [TweakDeclaration]
    let overridesFile: OverridesFile
    let overrides: OverridesDocument

    init(path: String) throws(Failure) {
        do throws(ELFError) {
            // A link has the libraries, and the overrides, of what it leads to.
            self.path = realPath(path) ?? path
            tweaks = try Self.tweaks(of: self.path)
        } catch {
            let isMissing = if case .cannotOpen = error { true } else { false }
            throw Failure(message: printable("\(error)"), exitCode: isMissing ? EX_NOINPUT : EX_DATAERR)
        }
        application = self.path.split(separator: "/").last.map(String.init) ?? self.path
        do throws(OverridesError) {
            overridesFile = try OverridesFile(application: application)
            overrides = try Self.load(overridesFile)
        } catch {
            throw Failure(message: printable("\(error)"), exitCode: EX_IOERR)
        }
    }

    /// A corrupt file counts as none here and is set aside when something is set.
    private static func load(_ file: OverridesFile) throws(OverridesError) -> OverridesDocument {
        do throws(OverridesError) {
            return try file.load()
        } catch .corrupt(let path, let reason) {
            writeMessage("warning: " + printable("\(path): \(reason)"))
            return OverridesDocument()
        }
    }

    private static func tweaks(of path: String) throws(ELFError) -> [TweakDeclaration] {
        let program = try ELFFile(path: path)
        var tweaks: [TweakDeclaration] = []
        var seen: Set<TweakKey> = []
        for file in [program] + (try program.neededLibraries()) {
            try file.forEachObject { (object) throws(ELFError) in
                for range in try object.recordRanges() {
                    let section = try object.records(in: range)
                    for error in section.errors {
                        writeMessage("warning: " + printable("\(object.path): \(error)"))
                    }
                    tweaks += section.tweaks.map(\.declaration).filter { seen.insert($0.key).inserted }
                }
            }
        }
        return tweaks
    }

    func tweak(named text: String) throws(Failure) -> TweakDeclaration {
        guard let key = TweakKey(text) else {
            throw Failure(
                message:
                    "\(printable(text)): a tweak is named Category/Collection/Name, with %2F for a slash and %25 "
                    + "for a percent sign inside a level", exitCode: EX_USAGE)
        }
        guard let tweak = tweaks.first(where: { $0.key == key }) else {
            let error = TweakError.unknown(key, nearest: tweaks.map(\.key).nearest(to: key))
            throw Failure(message: printable("\(error)"), exitCode: EX_DATAERR)
        }
        return tweak
    }

    /// The value with which the program would start.
    func status(of tweak: TweakDeclaration) -> (value: TweakValue, source: TweakSource) {
        do throws(TweakValueError) {
            if let admission = try overrides.admission(for: tweak) { return (admission.value, .overrides) }
        } catch {
            writeMessage("warning: override ignored: " + printable("\(error)"))
        }
        return (tweak.defaultValue, .binary)
    }

    func change(_ changes: [TweakKey: TweakValue?]) throws(Failure) {
        do throws(OverridesError) {
            if let problem = try overridesFile.update(changes) {
                writeMessage("warning: " + printable(problem))
            }
        } catch {
            throw Failure(message: printable("\(error)"), exitCode: EX_IOERR)
        }
    }
}
