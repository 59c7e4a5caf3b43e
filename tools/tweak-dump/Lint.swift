import CommandSupport
import Glibc
import TweakELF
import TweakRecords

/// What somebody should look at, although the file can be read. Its JSON form is a promise to scripts.
struct Finding: Encodable {
    enum Kind: String, Encodable {
        case differentDeclarations, defaultNotAllowed, expired, invalidRecord, unusableSection
    }

    let kind: Kind
    /// The file, or the member of an archive, with the declaration or record.
    let path: String
    var category, collection, name: String?
    /// Where the tweak is declared; of different declarations the first and the one that differs.
    var locations: [String]?
    let message: String

    init(_ kind: Kind, path: String, message: String) {
        (self.kind, self.path, self.message) = (kind, path, message)
    }

    init(_ kind: Kind, _ tweak: Lint.Declaration, locations: [String]? = nil, message: String) {
        self.init(kind, path: tweak.path, message: message)
        let key = tweak.declaration.key
        (category, collection, name) = (key.category, key.collection, key.name)
        self.locations = locations ?? [tweak.location]
    }
}

/// Looks for mistakes in all files of a command line, which count as one program.
final class Lint: Report {
    struct Declaration {
        let path: String
        let declaration: TweakDeclaration

        /// A long one is cut: it is said again with each declaration that differs.
        var location: String {
            let location = declaration.location ?? path
            return location.utf8.count <= 1000 ? location : location.prefix(250) + "…"
        }
    }

    private(set) var hasFindings = false
    private let format: OutputFormat
    private let today = utcDay(secondsSince1970: time(nil))
    private var output: JSONArrayOutput?
    /// The first declaration of each tweak, without what only people read.
    private var first: [TweakKey: Declaration] = [:]
    private var messages: Set<String> = []

    init(_ format: OutputFormat) {
        self.format = format
        if format == .json { output = JSONArrayOutput(after: "{\n  \"findings\" : ", depth: 1) }
    }

    func add(_ image: ImageDump, isShownEmpty: Bool) -> Bool {
        var isInvalid = false
        image.forEachTweak(invalid: {
            isInvalid = true
            write(Finding(.invalidRecord, path: image.path, message: "\($0)"))
        }) { tweak in check(Declaration(path: image.path, declaration: tweak.declaration)) }
        return isInvalid
    }

    func addUnusable(_ section: UnusableSection, of image: ImageDump) {
        write(Finding(.unusableSection, path: image.path, message: "\(section)"))
    }

    private func check(_ tweak: Declaration) {
        let (key, declaration) = (tweak.declaration.key, tweak.declaration)
        if let first = first[key] {
            guard !first.declaration.agrees(with: declaration) else { return }
            let locations = [first.location, tweak.location]
            let message = "\(key): declared differently at \(locations[0]) and at \(locations[1])"
            return add(Finding(.differentDeclarations, tweak, locations: locations, message: message))
        }
        var kept = declaration
        kept.attributes.removeAll { !["at", "read-only", "needs-restart"].contains($0.key) }
        first[key] = Declaration(path: tweak.path, declaration: kept)
        if !declaration.admitsDefault {
            let message =
                "\(key): the default \(declaration.defaultValue.quoted) is not allowed; "
                + "allowed: \(declaration.allowed)"
            add(Finding(.defaultNotAllowed, tweak, message: message))
        }
        if let warning = declaration.expiryWarning(on: today) {
            add(Finding(.expired, tweak, message: warning))
        }
    }

    /// A declaration in a header is in many objects.
    private func add(_ finding: Finding) {
        if messages.insert(finding.message).inserted { write(finding) }
    }

    private func write(_ finding: Finding) {
        hasFindings = true
        switch format {
        case .table: print(printable("\(finding.path): \(finding.message)"))
        // Every finding has a form in JSON.
        case .json: try? output?.add(finding)
        }
    }

    func finish() { output?.end(before: "\n}\n") }
}
