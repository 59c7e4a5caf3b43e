import Glibc
import TweakRecords
import TweakText

/// What somebody should look at, although the file can be read. Its JSON form is a promise to scripts.
struct Finding: Encodable {
    enum Kind: String, Encodable {
        case differentDeclarations, defaultNotAllowed, expired, invalidRecord
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
struct Lint {
    struct Declaration {
        let path: String
        let declaration: TweakDeclaration

        var location: String { declaration.location ?? path }
    }

    private(set) var findings: [Finding] = []
    private var first: [TweakKey: Declaration] = [:]
    private var messages: Set<String> = []

    init(_ dump: Dump) {
        let today = utcDay(secondsSince1970: time(nil))
        for image in dump.images {
            for tweak in image.tweaks { check(Declaration(path: image.path, declaration: tweak), on: today) }
        }
        for case let (path, error)? in dump.problems.map(\.invalidRecord) {
            findings.append(Finding(.invalidRecord, path: path, message: "\(error)"))
        }
    }

    private mutating func check(_ tweak: Declaration, on day: String) {
        let (key, declaration) = (tweak.declaration.key, tweak.declaration)
        if let first = first[key] {
            guard !first.declaration.agrees(with: declaration) else { return }
            let locations = [first.location, tweak.location]
            let message = "\(key): declared differently at \(locations[0]) and at \(locations[1])"
            return add(Finding(.differentDeclarations, tweak, locations: locations, message: message))
        }
        first[key] = tweak
        if !declaration.admitsDefault {
            let message =
                "\(key): the default \(declaration.defaultValue.quoted) is not allowed; "
                + "allowed: \(declaration.allowed)"
            add(Finding(.defaultNotAllowed, tweak, message: message))
        }
        if let warning = declaration.expiryWarning(on: day) {
            add(Finding(.expired, tweak, message: warning))
        }
    }

    /// A declaration in a header is in many objects.
    private mutating func add(_ finding: Finding) {
        if messages.insert(finding.message).inserted { findings.append(finding) }
    }

    func write(_ format: OutputFormat) throws {
        switch format {
        case .table: for finding in findings { print(printable("\(finding.path): \(finding.message)")) }
        case .json: try printJSON(["findings": findings])
        }
    }
}
