package import CommandSupport
package import Glibc
package import TweakELF
internal import TweakJSON
package import TweakOverrides
package import TweakProtocol
package import TweakRecords
internal import TweakSystem

/// A program that does not run, or does not answer, by its binary and its overrides file.
package final class OfflineProgram: Program {
    package let pid: pid_t? = nil
    package let title: String
    private let path: String?
    private let application: String
    /// First declarations, in the order in which the running program would find them.
    private let declarations: [TweakDeclaration]
    private let overridesFile: OverridesFile
    package private(set) var overrides: OverridesDocument
    /// What agents on this host have for it, the first first.
    private let provided: [(source: TweakSource, path: String, values: OverridesDocument)]
    private let warn: (String) -> Void
    private var warnings: Set<String> = []

    /// - Parameters:
    ///   - path: Of the executable.
    ///   - warn: Is told what is wrong with the binary or the overrides and left out.
    package init(path: String, warn: @escaping (String) -> Void) throws(Failure) {
        // A link has the libraries, and the overrides, of what it leads to.
        let path = realPath(path) ?? path
        let content = try failing { try Self.content(of: path, warn) }
        declarations = content.declarations
        application = ApplicationName.first(
            environment: nil, declared: content.applications, executable: path, problem: warn)
        title = path
        (self.path, self.warn) = (path, warn)
        (overridesFile, overrides) = try Self.overrides(of: application, warn)
        provided = Self.provided(for: application, warn)
    }

    /// A program of which only the overrides are known, and so neither types nor defaults. Its values can be seen
    /// and taken away.
    package init(application: String, warn: @escaping (String) -> Void) throws(Failure) {
        (title, self.application, path) = (application, application, nil)
        self.warn = warn
        (overridesFile, overrides) = try Self.overrides(of: application, warn)
        provided = Self.provided(for: application, warn)
        declarations = overrides.keys.sorted().compactMap { [overrides] key in
            overrides[key]?.tweakValue.map {
                TweakDeclaration(key: key, type: $0.likelyType, defaultValue: .nothing)
            }
        }
    }

    /// What the executable and the libraries that it needs declare, each tweak once.
    package static func content(
        of path: String, _ warn: (String) -> Void
    ) throws(ELFError) -> (declarations: [TweakDeclaration], applications: [String]) {
        let program = try ELFFile(path: path)
        var declarations: [TweakDeclaration] = []
        var applications: [String] = []
        var seen: Set<TweakKey> = []
        for file in [program] + (try program.neededLibraries()) {
            try file.forEachObject { (object) throws(ELFError) in
                if let name = try object.application() { applications.append(name) }
                for range in try object.recordRanges() {
                    let section = try object.records(in: range)
                    for error in section.errors { warn("\(object.path): \(error)") }
                    declarations += section.tweaks.map(\.declaration).filter { seen.insert($0.key).inserted }
                }
            }
        }
        return (declarations, applications)
    }

    /// A corrupt file counts as none here and is set aside when something is set.
    private static func overrides(
        of application: String, _ warn: (String) -> Void
    ) throws(Failure) -> (file: OverridesFile, content: OverridesDocument) {
        try failing {
            let file = try OverridesFile(application: application)
            do {
                return (file, try file.load())
            } catch OverridesError.corrupt(let path, let reason) {
                warn("\(path): \(reason)")
                return (file, OverridesDocument())
            }
        }
    }

    /// As the program would read it. A file that it would not believe is left out.
    private static func provided(
        for application: String, _ warn: (String) -> Void
    ) -> [(source: TweakSource, path: String, values: OverridesDocument)] {
        let folders = ProvidedFolders.all(isPrivileged: false)
        return [TweakSource.remote, .fleet].flatMap { source in
            folders.compactMap { folder in
                let path = "\(folder)/\(application)/\(source).json"
                do throws(OverridesError) {
                    guard let json = try KeptFile(path: path).read() else { return nil }
                    try KeptFile(path: path).checkWriters()
                    return (source, path, try ProvidedFile(json: json, path: path).values)
                } catch {
                    warn("\(source): \(error)")
                    return nil
                }
            }
        }
    }

    package var description: ProgramDescription {
        ProgramDescription(program: path, application: application, overrides: overridesFile.path, pid: nil)
    }

    package func tweaks() -> [JSONTweak] { declarations.map(status) }

    package func tweak(_ key: TweakKey) -> JSONTweak? { declarations.first { $0.key == key }.map(status) }

    /// The value with which the program would start.
    private func status(of tweak: TweakDeclaration) -> JSONTweak {
        do throws(TweakValueError) {
            if let admission = try overrides.admission(for: tweak) {
                return JSONTweak(tweak, value: admission.value, source: "\(TweakSource.overrides)")
            }
        } catch {
            let warning = "override ignored: \(error)"
            if warnings.insert(warning).inserted { warn(warning) }
        }
        for (source, _, values) in provided {
            // What is wrong with a value is said when somebody asks where the value comes from.
            if let admission = try? values.admission(for: tweak) {
                return JSONTweak(tweak, value: admission.value, source: "\(source)")
            }
        }
        return JSONTweak(tweak, value: tweak.defaultValue, source: "\(TweakSource.binary)")
    }

    package func set(_ tweak: JSONTweak, to text: String) throws(Failure) -> JSONTweak {
        let key = tweak.declaration.key
        let value = try failing { try tweak.declaration.admit(text: text, current: tweak.nextValue).value }
        try change([key: value])
        return status(of: tweak.declaration)
    }

    package func reset(_ scope: TweakScope) throws(Failure) {
        // One that is named may be left from another build.
        let keys =
            if case .tweak(let key) = scope { [key] } else { declarations.map(\.key).filter(scope.contains) }
        try change(Dictionary(keys.map { ($0, nil) }) { first, _ in first })
    }

    package func apply(
        _ values: OverridesDocument, resettingOthers: Bool, allOrNothing: Bool
    ) throws(Failure) -> SetManyTweaks.Answer {
        let (answer, admitted) = values.decide(for: declarations, allOrNothing: allOrNothing)
        guard let admitted else { return answer }
        var changes: [TweakKey: TweakValue?] = admitted.mapValues { $0 }
        for declaration in declarations where resettingOthers && changes[declaration.key] == nil {
            changes.updateValue(nil, forKey: declaration.key)
        }
        try change(changes)
        return answer
    }

    package func explain(_ key: TweakKey) throws(Failure) -> ExplainTweak.Answer {
        let tweak = try tweakAgain(key)
        var opinions: [ExplainTweak.Answer.Opinion] = []
        func add(_ source: TweakSource, _ values: OverridesDocument, at path: String?) {
            guard let entry = values[key] else { return }
            var opinion = ExplainTweak.Answer.Opinion(source: "\(source)", value: entry)
            opinion.location = path
            do throws(TweakValueError) {
                let admission = try values.admission(for: tweak.declaration)
                if admission?.wasClamped == true { opinion.given = entry }
                opinion.value = admission.map { .scalar($0.value) }
            } catch {
                opinion.error = "\(error)"
            }
            opinions.append(opinion)
        }
        add(.overrides, overrides, at: nil)
        for (source, path, values) in provided where !opinions.contains(where: { $0.source == "\(source)" }) {
            add(source, values, at: path)
        }
        opinions.append(
            .init(source: "\(TweakSource.binary)", value: .scalar(tweak.declaration.defaultValue)))
        var answer = ExplainTweak.Answer(
            tweak: key, value: .scalar(tweak.value ?? .nothing), source: tweak.source ?? "",
            opinions: opinions)
        for (source, path, _) in provided where !opinions.contains(where: { $0.source == "\(source)" }) {
            var silent = ExplainTweak.Answer.Opinion(source: "\(source)", value: nil)
            silent.location = path
            answer.silent = (answer.silent ?? []) + [silent]
        }
        return answer
    }

    private func change(_ changes: [TweakKey: TweakValue?]) throws(Failure) {
        let problem = try failing { try overridesFile.update(changes) }
        if let problem { warn(problem) }
        for (key, value) in changes { overrides.set(value, for: key) }
    }
}

extension TweakValue {
    /// What a tweak holds that has this value in JSON.
    fileprivate var likelyType: TweakType {
        switch self {
        case .bool: .bool
        case .integer(let number): Int64(exactly: number) == nil ? .uint64 : .int64
        case .double: .double
        case .string, .color, .nothing: .string
        }
    }
}
