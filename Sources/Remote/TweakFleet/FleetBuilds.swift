// SPDX-License-Identifier: BSD-3-Clause
#if Remote
package import CommandSupport
package import RemoteValues
import TweakClient
import TweakJSON
import TweakProtocol
import TweakRecords
import TweakSystem
import TweakTargeting

extension FleetDeclare { func perform() throws(Failure) { try Fleet.declare(self) } }
extension FleetBuilds { func perform() throws(Failure) { try Fleet.builds(self) } }

extension Fleet {
    static func declare(_ options: FleetDeclare) throws(Failure) {
        var isNewEnvironment = try isNewEnvironment(options.fleet, options.creation)
        for path in try executables(of: options.program) {
            let build = try DeclaredBuild(of: path) { $0.write(of: command) }
            if build.tweaks.isEmpty {
                warn(
                    "\(path) declares no tweaks; it was probably built without DEBUG. Values of tweaks "
                        + "that no other build declares are refused")
            }
            let isNew = try asking(options.fleet) { (editor) async throws(FleetProblem) in
                try await editor.publish(build)
            }
            switch options.fleet.format {
            case .json: try failing { try printJSON(BuildForm(build)) }
            case .table:
                print(
                    printable(
                        "\(options.fleet.application): build \(build.id) "
                            + (isNew ? "declares " : "was published before; it declares ")
                            + counted(build.tweaks.count, "tweak", "tweaks")))
            }
            if isNewEnvironment { tellOfNewEnvironment(options.fleet) }
            isNewEnvironment = false
        }
        let (declared, values) = try asking(options.fleet) { (editor) async throws(FleetProblem) in
            (try await editor.declarations(), try await editor.contents())
        }
        warnOfUndeclared(values, "it has a value", declared)
        warnOfKills(kills(options.fleet), declared)
    }

    /// The executables of the programs with a name, each once.
    ///
    /// - Throws: ``Failure`` if a process runs another build than the one at its path.
    private static func executables(of name: String) throws(Failure) -> [String] {
        let found = try ProgramSearch(.usual) { $0.write(of: command) }
            .programs(named: name, checkingValues: true)
        var paths: [String] = []
        for program in found {
            guard let path = try program.description.program, !paths.contains(path) else { continue }
            if let pid = program.pid, let id = buildID(of: "/proc/\(pid)/exe"), id != buildID(of: path) {
                throw Failure(
                    "\(program.title): its executable \(path) was replaced after it had started, so its declarations "
                        + "are not known; give the path of either build", .invalid)
            }
            paths.append(path)
        }
        return paths
    }

    /// Warns about values or kills of tweaks that no published build declares, which have no effect.
    static func warnOfUndeclared(_ contents: FleetContents?, _ state: String, _ declared: FleetDeclarations) {
        guard let contents, !declared.builds.isEmpty else { return }
        let known = declared.tweaks
        let undeclared = contents.values.map(\.tweak).filter { !known.contains($0) }
        for tweak in undeclared.prefix(mostWarnings) {
            warn(
                "\(tweak): \(state), but no published build declares it"
                    + didYouMean(known.nearest(to: tweak).map(\.description)))
        }
        let more = undeclared.count - mostWarnings
        if more > 0 { warn("the same is true of \(more) more tweaks") }
    }

    static func builds(_ options: FleetBuilds) throws(Failure) {
        if let beginning = options.remove {
            try asking(options.fleet) { (editor) async throws(FleetProblem) in
                try await editor.remove(build: beginning)
            }
            return
        }
        let declared = try asking(options.fleet) { (editor) async throws(FleetProblem) in
            try await editor.declarations()
        }
        warn(declared.strangers)
        guard !options.isOfTweaks else { return try show(declared.newest, options.fleet) }
        let forms = declared.builds.map(BuildForm.init)
        switch options.fleet.format {
        case .json: try failing { try printJSON(["builds": forms]) }
        case .table:
            guard !forms.isEmpty else {
                warnIfUnknown(options.fleet)
                return print(printable("\(options.fleet.application): no builds"))
            }
            let table = TextTable(
                header: ["BUILD", "PROGRAM", "TWEAKS", "AT", "BY"],
                rows: forms.map { [$0.build, $0.program, "\($0.tweaks.count)", $0.at, $0.by] })
            print(table.text)
        }
    }

    private static func show(
        _ tweaks: [TweakKey: TweakDeclaration], _ options: FleetOptions
    ) throws(Failure) {
        switch options.format {
        case .json: try failing { try printJSON(["tweaks": DeclaredBuild.json(of: tweaks)]) }
        case .table:
            guard !tweaks.isEmpty else {
                return print(printable("\(options.application): no build declares a tweak"))
            }
            let rows = tweaks.values.sorted { $0.key < $1.key }.map {
                ["\($0.key)", $0.typeName, $0.allowed, $0.unit ?? ""]
            }
            let header = ["TWEAK", "TYPE", "ALLOWED", "UNIT"]
            print(TextTable(header: header, rows: rows).text)
        }
    }

    // MARK: - Checking

    /// The declarations in the builds of an application.
    ///
    /// - Throws: ``Failure`` if the application is unknown, perhaps because it was mistyped.
    static func published(
        _ options: FleetOptions, _ situation: FleetSituation? = nil
    ) throws(Failure) -> FleetDeclarations {
        do throws(Failure) {
            let declared = try publishedOfKnown(options, situation)
            warnOfUnpublished(options, situation)
            return declared
        } catch {
            // The user's role may date from before declarations.
            guard error.kind == .forbidden else { throw error }
            warn("the value is not checked against declarations: \(error.message)")
            return FleetDeclarations()
        }
    }

    /// Warns if there is nothing of an application, but of others with similar names, or nothing in the environment.
    static func warnIfUnknown(_ options: FleetOptions) {
        warnOfMissingEnvironment(options)
        let name = options.application
        // The user may not be allowed to see other applications.
        let found = try? asking(options) { (editor) async throws(FleetProblem) in
            try await editor.applications()
        }
        guard let applications = found, applications.first?.name != name else { return }
        let nearest = applications.map(\.name).nearest(to: name)
        guard !nearest.isEmpty else { return }
        warn("\(name): no such application" + didYouMean(nearest))
    }

    /// Warns if no known host has a name that filters ask for.
    static func warnOfHosts(
        _ filters: JSONObject, _ situation: FleetSituation?, _ options: FleetOptions
    ) {
        guard let names = filters["only-host"] else { return }
        let found =
            situation?.hosts
            ?? (try? asking(options) { (editor) async throws(FleetProblem) in try await editor.hosts() })
        guard let hosts = found?.map(\.host), !hosts.isEmpty,
            let target = try? FeatureTarget(filters: ["only-host": names], key: "hosts", path: "--for"),
            !hosts.contains(where: { host in
                var facts = HostFacts()
                facts[.host] = host
                return target.decision(for: facts).isOn
            })
        else { return }
        warn(
            "none of \(counted(hosts.count, "known host", "known hosts")) has a name that only-host "
                + "asks for")
    }

    /// Warns if values are not checked against the programs of all hosts yet.
    private static func warnOfUnpublished(_ options: FleetOptions, _ situation: FleetSituation?) {
        // The user may not be allowed to see the hosts.
        let found =
            situation.map { FleetEditor.published($0.hosts) }
            ?? (try? asking(options) { (editor) async throws(FleetProblem) in
                try await editor.publishedHosts()
            })
        guard let (published, known) = found ?? nil, published < known else { return }
        warn(
            "\(published) of \(counted(known, "known host", "known hosts")) "
                + (published == 1 ? "has" : "have")
                + " published what their programs declare, so others may refuse what "
                + "this check accepts")
    }

    private static func publishedOfKnown(
        _ options: FleetOptions, _ situation: FleetSituation?
    ) throws(Failure) -> FleetDeclarations {
        let name = options.application
        let (declared, applications) = try asking(options) { (editor) async throws(FleetProblem) in
            let declared =
                if let situation { situation.declarations } else { try await editor.declarations() }
            guard declared.builds.isEmpty, situation?.isKnown != true else {
                return (declared, nil as [FleetEditor.Application]?)
            }
            // The user may not be allowed to see other applications.
            return (declared, try? await editor.applications())
        }
        warn(declared.strangers)
        guard let applications, applications.first?.name != name else { return declared }
        let nearest = applications.map(\.name).nearest(to: name)
        // If nothing is published, any name may be a new application.
        guard !nearest.isEmpty || applications.contains(where: \.isDeclared) else { return declared }
        throw Failure(
            "\(name): no build of it is published, and it has no values, so it is only set "
                + FleetWording.choose("with --force", page: "if you choose to set it anyway")
                + didYouMean(nearest), .invalid)
    }

    /// Throws if builds are published and none declares a tweak without a value.
    static func expect(
        _ tweak: TweakKey, _ declared: FleetDeclarations, _ contents: FleetContents, of application: String
    ) throws(FleetProblem) {
        guard !declared.builds.isEmpty else { return }
        guard contents[tweak] == nil else {
            return warn(
                "\(tweak): no published build declares it"
                    + didYouMean(declared.tweaks.nearest(to: tweak).map(\.description)), tweak: tweak)
        }
        throw undeclared(tweak, declared.tweaks.union(contents.values.map(\.tweak)), of: application)
    }

    static func undeclared(
        _ tweak: TweakKey, _ known: Set<TweakKey>, of application: String
    ) -> FleetProblem {
        .impossible(
            "\(tweak): no published build of \(application) declares it, so it is only set "
                + FleetWording.choose("with --force", page: "if you choose to set it anyway")
                + didYouMean(known.nearest(to: tweak).map(\.description)))
    }
}

extension DeclaredBuild {
    /// Reads an executable and its libraries. What files on this host have introduced is no declaration.
    ///
    /// - Parameter warn: Called with problems of records.
    package init(of path: String, _ warn: (Warning) -> Void) throws(Failure) {
        let declarations = try failing { try OfflineProgram.content(of: path, warn).declarations }
        do throws(FleetProblem) {
            self = try DeclaredBuild(of: path, buildID: buildID(of: path), by: Fleet.author, declarations)
        } catch {
            throw Failure(error)
        }
    }
}

private struct BuildForm: Encodable {
    let build, program, at, by: String
    let tweaks: [TweakKey]

    init(_ build: DeclaredBuild) {
        (self.build, program, at, by) = (build.id, build.program, build.at, build.by)
        tweaks = build.tweaks.keys.sorted()
    }
}
#endif
