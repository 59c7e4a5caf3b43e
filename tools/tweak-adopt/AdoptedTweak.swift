// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import TweakClient
import TweakDWARF
import TweakFormats
import TweakOverrides
import TweakProtocol
import TweakRecords
import TweakSystem

extension Adopt {
    /// Makes tweaks of variables: of all that can be adopted.
    ///
    /// - Throws: ``Failure`` at the end, with the reasons for the others.
    func adopt(_ names: [String], in file: ProgramFile) throws(Failure) {
        let images = ProgramImages(of: file, read: variables)
        var adopted: [(variable: AdoptedVariable, part: VariablePart, build: String, program: String)] = []
        var problems: [Failure] = []
        for name in names {
            do throws(Failure) {
                let (image, variables, part) = try images.find(name)
                let build = try identity(of: variables, image)
                let variable = try AdoptedVariable(part, in: variables, as: self)
                adopted.append((variable, part, build, image.shownPath))
            } catch {
                if names.count == 1 { throw error }
                problems.append(error)
            }
        }
        if !adopted.isEmpty { try keep(adopted, of: file, images) }
        try check(problems.map(\.message))
    }

    private func keep(
        _ adopted: [(variable: AdoptedVariable, part: VariablePart, build: String, program: String)],
        of file: ProgramFile, _ images: ProgramImages
    ) throws(Failure) {
        let application = try file.application { $0.write(of: "tweak-adopt") }
        let adoptedFile = try failing { try AdoptedFile(application: application) }
        let present = Set(images.files.compactMap { buildIdentity(of: $0.path) })
        var conflict: (TweakKey, other: String)?
        try failing {
            try adoptedFile.update { builds in
                let before = builds
                for (variable, _, build, program) in adopted {
                    let key = variable.tweak.declaration.key
                    builds.update(build: build, of: program) { variables in
                        variables.removeAll { $0.variable == variable.variable }
                    }
                    let others = builds.builds.filter { present.contains($0.buildID) }.flatMap(\.variables)
                    if let other = others.first(where: { $0.tweak.declaration.key == key }) {
                        conflict = (key, other.variable)
                        builds = before
                        return
                    }
                    builds.update(build: build, of: program) { $0.append(variable) }
                }
            }
        }
        if let (key, other) = conflict {
            throw Failure("\(key): already the tweak of \(other); choose another --name", .invalid)
        }
        notify(file)
        for (variable, part, _, program) in adopted {
            let place = program == file.shownPath ? "" : " in \(program)"
            print(
                printable(
                    "\(variable.tweak.declaration.key): \(variable.variable)\(place), \(part.type.name)"))
            guard !part.isAlwaysRead, !variable.tweak.declaration.isReadOnly else { continue }
            Warning(
                "\(variable.variable) is not volatile; a loop in optimized code may have read it already"
            ).write(of: "tweak-adopt")
        }
    }

    private func identity(of variables: ProgramVariables, _ file: ProgramFile) throws(Failure) -> String {
        if let id = variables.buildID, !id.isEmpty { return id.hexadecimal }
        if let identity = buildIdentity(of: file.path) { return identity }
        throw Failure(
            "\(file.shownPath): it has no build id, and no section headers or more than 256 MiB, so its "
                + "builds cannot be told apart; link it with -Wl,--build-id", .invalid)
    }

    /// Adopts variables no longer: all of them, or none if one has not been adopted.
    func forget(_ names: [String], in file: ProgramFile) throws(Failure) {
        let application = try file.application { _ in }
        let adoptedFile = try failing { try AdoptedFile(application: application) }
        let adopted = try failing { try adoptedFile.load() }
        let present = Set(file.images.compactMap { buildIdentity(of: $0.path) })
        let variables = adopted.builds.filter { present.contains($0.buildID) }.flatMap(\.variables)
        guard !variables.isEmpty else {
            throw Failure("\(file.shownPath): no variable of this build is adopted", .invalid)
        }
        var keys: [TweakKey] = []
        for name in names {
            let key = variables.first { $0.variable == name }?.tweak.declaration.key
            if let key {
                keys.append(key)
            } else {
                keys.append(try TweakName(name).key(among: variables.map(\.tweak.declaration.key)))
            }
        }
        try failing {
            try adoptedFile.update { builds in
                for build in builds.builds where present.contains(build.buildID) {
                    guard build.variables.contains(where: { keys.contains($0.tweak.declaration.key) }) else {
                        continue
                    }
                    builds.update(build: build.buildID, of: build.program) { variables in
                        variables.removeAll { keys.contains($0.tweak.declaration.key) }
                    }
                }
            }
        }
        notify(file)
        for key in keys { print(printable("\(key): no longer adopted")) }
    }

    /// Stores the values of adopted variables once more that running programs have overwritten.
    func storeAgain() throws(Failure) {
        let programs = try ProgramSearch { $0.write(of: "tweak-adopt") }
            .programs(named: program).compactMap { $0 as? LiveProgram }
        guard !programs.isEmpty else {
            throw Failure(
                "\(program): no running program of this name contains the Tweaks library, which is needed "
                    + "to keep values",
                .unavailable)
        }
        for program in programs {
            let overwritten = try program.tweaks().filter { $0.overwrittenValue != nil }
            if overwritten.isEmpty { print(printable("\(program.title): it has not overwritten any value")) }
            guard !overwritten.isEmpty else { continue }
            _ = try program.ask(ReadAdopted(again: true))
            for before in overwritten {
                let now = try program.tweakAgain(before.declaration.key)
                print(
                    printable(
                        "\(before.declaration.key): \(before.declaration.text(of: before.value ?? .nothing)) "
                            + "\(Signs.shown.arrow) "
                            + now.declaration.text(of: now.value ?? .nothing)))
            }
        }
    }

    private func notify(_ file: ProgramFile) {
        AdoptedFile.notify(file.shownPath) { $0.write(of: "tweak-adopt") }
    }

    /// Takes over the variables that were adopted of the last other builds of the executable and its libraries.
    func lookUpAgain(_ file: ProgramFile) throws(Failure) {
        let images = ProgramImages(of: file, read: variables)
        let application = try file.application { $0.write(of: "tweak-adopt") }
        let adoptedFile = try failing { try AdoptedFile(application: application) }
        let builds = try failing { try adoptedFile.load().builds }
        let paths = Set(images.files.map(\.shownPath))
        var found: [(variables: [AdoptedVariable], build: String, program: String)] = []
        var problems: [String] = []
        for (index, image) in images.files.enumerated() {
            let own = buildIdentity(of: image.path)
            var last = builds.first { $0.buildID != own && $0.program == image.shownPath }
            if index == 0 { last = last ?? builds.first { $0.buildID != own && !paths.contains($0.program) } }
            guard let last else { continue }
            let variables = try images.variables(at: index)
            let build = try identity(of: variables, image)
            var renewed: [AdoptedVariable] = []
            for variable in last.variables {
                do throws(Failure) {
                    let part = try variables.find(variable.variable)
                    renewed.append(try AdoptedVariable(part, in: variables, like: variable))
                } catch { problems.append(error.message) }
            }
            found.append((renewed, build, image.shownPath))
        }
        guard !found.isEmpty else {
            throw Failure("\(file.shownPath): no variable of another build is adopted", .invalid)
        }
        try failing {
            try adoptedFile.update { builds in
                for (renewed, build, program) in found {
                    builds.update(build: build, of: program) { variables in
                        let known = Set(variables.map(\.tweak.declaration.key))
                        variables += renewed.filter { !known.contains($0.tweak.declaration.key) }
                    }
                }
            }
        }
        notify(file)
        let count = found.reduce(0) { $0 + $1.variables.count }
        print("\(counted(count, "variable", "variables")) adopted")
        try check(problems)
    }

    /// Throws if variables could not be adopted.
    private func check(_ problems: [String]) throws(Failure) {
        guard !problems.isEmpty else { return }
        throw Failure(
            "\(counted(problems.count, "variable is", "variables are")) not adopted:",
            details: problems.beginning, .invalid)
    }
}

extension AdoptedVariable {
    /// A variable with the options on the command line.
    fileprivate convenience init(
        _ part: VariablePart, in variables: ProgramVariables, as options: Adopt
    ) throws(Failure) {
        var key = TweakKey("Variables", lastComponent(of: part.variable.unit), part.plainName)
        if let name = options.name {
            guard let given = try TweakName(name).key else {
                throw Failure("\(name): the tweak is named Category/Collection/Name", .usage)
            }
            key = given
        }
        let attributes = options.unit.map { [TweakDeclaration.Attribute(key: "unit", value: $0)] } ?? []
        let plain = TweakDeclaration(
            key: key, type: .double, defaultValue: .nothing, attributes: attributes,
            isMonitor: options.monitor)
        var (address, declaration) = try Self.place(part, in: variables, plain)
        if let limits = options.limits {
            (declaration.minimum, declaration.maximum) = try Self.limits(limits, of: declaration)
            declaration.choices = []
        }
        if let problem = declaration.problem {
            throw Failure("\(key): \(problem)", .invalid)
        }
        self.init(variable: part.name, address: address, tweak: JSONTweak(declaration))
    }

    /// A variable in another build, with the limits and names that it had.
    fileprivate convenience init(
        _ part: VariablePart, in variables: ProgramVariables, like other: AdoptedVariable
    ) throws(Failure) {
        let old = other.tweak.declaration
        var (address, declaration) = try Self.place(part, in: variables, old)
        guard declaration.type == old.type else {
            throw Failure(
                "\(part.name): its type was \(old.type) and is \(declaration.type); adopt it again", .invalid)
        }
        (declaration.minimum, declaration.maximum) = (old.minimum, old.maximum)
        if (old.minimum ?? old.maximum) != nil { declaration.choices = [] }
        if let problem = declaration.problem { throw Failure("\(part.name): \(problem)", .invalid) }
        self.init(variable: part.name, address: address, tweak: JSONTweak(declaration))
    }

    /// The address and the declaration by the type, without limits.
    private static func place(
        _ part: VariablePart, in variables: ProgramVariables, _ like: TweakDeclaration
    ) throws(Failure) -> (UInt64, TweakDeclaration) {
        let address: UInt64
        switch variables.place(of: part) {
        case .none(let reason): throw Failure("\(part.name): \(reason)", .invalid)
        case .address(let place, size: _): address = place
        }
        var declaration = like
        declaration.attributes.removeAll { $0.key == "at" || $0.key == "read-only" }
        if let place = part.variable.declaredAt {
            declaration.attributes.append(.init(key: "at", value: place))
        }
        switch part.type.shape {
        case .value(let type, let choices):
            declaration.type = type
            declaration.defaultValue = variables.initialValue(of: part) ?? .nothing
            let isChoice = choices.contains { $0.value == declaration.defaultValue }
            // A set of flags may be none of its names.
            declaration.choices = isChoice || like.isMonitor ? choices : []
        case .text:
            (declaration.type, declaration.defaultValue) = (.string, .string(""))
            declaration.choices = []
            declaration.isMonitor = false
            declaration.attributes.append(.init(key: "read-only", value: ""))
            return (address, declaration)
        case .record, .array, .other:
            throw Failure("\(part.name): no tweak can have its type, \(part.type.name)", .invalid)
        }
        if !declaration.isMonitor, let reason = variables.obstacleToWriting(part) {
            throw Failure("\(part.name): \(reason); --monitor makes a monitor of it", .invalid)
        }
        return (address, declaration)
    }

    private static func limits(
        _ text: String, of declaration: TweakDeclaration
    ) throws(Failure) -> (TweakValue?, TweakValue?) {
        guard declaration.type.isNumeric, let dots = text.firstRange(of: "..") else {
            throw Failure(
                declaration.type.isNumeric
                    ? "\(text): limits are written as 0..30" : "only a number has limits", .invalid)
        }
        var unlimited = declaration
        unlimited.isMonitor = false
        unlimited.choices = []
        func value(_ end: Substring) throws(Failure) -> TweakValue? {
            guard !end.isEmpty else { return nil }
            return try failing { try unlimited.admit(text: String(end)).value }
        }
        return (try value(text[..<dots.lowerBound]), try value(text[dots.upperBound...]))
    }
}
