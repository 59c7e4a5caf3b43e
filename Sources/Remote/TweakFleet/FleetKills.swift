// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import CommandSupport
import RemoteValues
import TweakClient
import TweakFormats
import TweakJSON
import TweakOverrides
import TweakProtocol
import TweakRecords
import TweakSystem

extension FleetKill { func perform() throws(Failure) { try Fleet.kill(self) } }
extension FleetUnkill { func perform() throws(Failure) { try Fleet.unkill(self) } }

/// A value that a kill overrides.
struct HiddenValue: Encodable {
    let source: TweakSource
    let value: TweakValue
    let from: String?
    /// Whether it is a value of this host.
    let isHere: Bool

    private enum CodingKeys: CodingKey { case source, value, from }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode("\(source)", forKey: .source)
        try container.encode(value, forKey: .value)
        try container.encodeIfPresent(from, forKey: .from)
    }

    var text: String {
        "\(source)\(isHere ? " on this host" : ""): \(value)" + (from.map { ", \($0)" } ?? "")
    }
}

extension Fleet {
    static func kill(_ options: FleetKill) throws(Failure) {
        let name = try TweakName(options.feature)
        let isNew = try isNewEnvironment(options.fleet, options.creation)
        let declared = options.isForced ? nil : try publishedIfKnown(options.fleet)
        let values = try asking(options.fleet) { (editor) async throws(FleetProblem) in
            try await editor.contents()
        }
        let change = try commit(options.fleet, .kills, options.change, nil) {
            (kills, _) throws(FleetProblem) in
            let known = (declared?.tweaks ?? []).union((values.values + kills.values).map(\.tweak))
            let tweak = try key(ofFeature: name, known)
            if let type = declared?.newestBuild(declaring: tweak)?.tweaks[tweak]?.type, type != .bool {
                throw .impossible(
                    "\(tweak): it is \(type.withArticle); only features and other bools can be killed")
            }
            if let declared, !declared.builds.isEmpty, !known.contains(tweak) {
                throw undeclared(tweak, known, of: options.fleet.application)
            }
            return [tweak: FleetValue(false)]
        }
        if let tweak = change?.parts.first?.tweak, let declared {
            if declared.builds.isEmpty {
                warn(
                    "no build of \(options.fleet.application) is published, so it is not checked whether "
                        + "there is such a feature; tweak fleet declare publishes one")
            } else if !declared.tweaks.contains(tweak) {
                warn(
                    "\(tweak): no published build declares it"
                        + didYouMean(declared.tweaks.nearest(to: tweak).map(\.description)))
            }
        }
        if options.isForced, let part = change?.parts.first, let kill = part.new {
            warnOfVainKill(kill, of: part.tweak, declarations(options.fleet))
        }
        let above = change?.parts.flatMap { hidden($0.tweak, values, of: options.fleet.application) }
        try show(change, options.fleet, options.change, above: above)
        if isNew { tellOfNewEnvironment(options.fleet, isDryRun: options.change.isDryRun) }
    }

    static func unkill(_ options: FleetUnkill) throws(Failure) {
        let name = try TweakName(options.feature)
        let declared = declarations(options.fleet)
        let change = try commit(options.fleet, .kills, options.change, nil) {
            (kills, _) throws(FleetProblem) in
            let killed = Set(kills.values.map(\.tweak))
            // Killed features first: another tweak may have a similar name.
            let isKilled = !name.meant(among: killed.sorted()).isEmpty
            let tweak = try key(ofFeature: name, isKilled ? killed : declared?.tweaks ?? [])
            guard kills[tweak] == nil else { return [tweak: nil] }
            try expectKnown(tweak, declared, "it is not killed", kills)
            return [:]
        }
        if change == nil, !options.change.isDryRun, let killed = kills(options.fleet)?.values, !killed.isEmpty
        {
            warn(
                "still killed: "
                    + killed.map(\.tweak.description).beginning.joined(separator: ", "))
        }
        try show(change, options.fleet, options.change)
    }

    /// The kills of an application; `nil` if they cannot be read, as with a user who may only read values.
    static func kills(_ options: FleetOptions) -> FleetContents? {
        try? asking(options, .kills) { (editor) async throws(FleetProblem) in try await editor.contents() }
    }

    /// Warns about kills without an effect: no published build declares the tweak, or none takes the value.
    static func warnOfKills(_ kills: FleetContents?, _ declared: FleetDeclarations) {
        warnOfUndeclared(kills, "it is killed", declared)
        for kill in kills?.values ?? [] {
            if let value = try? kill.value.get() { warnOfVainKill(value, of: kill.tweak, declared) }
        }
    }

    /// Warns if all builds that declare a tweak refuse the value of its kill, which then has no effect.
    ///
    /// - Returns: Whether that is so.
    @discardableResult
    static func warnOfVainKill(
        _ kill: FleetValue, of tweak: TweakKey, _ declared: FleetDeclarations?
    ) -> Bool {
        guard let reason = declared?.refusal(of: kill.value, for: tweak) else { return false }
        warn("\(reason); so its kill has no effect", tweak: tweak)
        return true
    }

    /// The published declarations; `nil` if they cannot be read.
    static func declarations(_ options: FleetOptions) -> FleetDeclarations? {
        try? asking(options) { (editor) async throws(FleetProblem) in try await editor.declarations() }
    }

    /// The published declarations; `nil` if they cannot be read, which does not prevent a kill.
    static func publishedIfKnown(_ options: FleetOptions) throws(Failure) -> FleetDeclarations? {
        do throws(Failure) { return try published(options) } catch {
            if error.kind == .invalid { throw error }
            warn("it is not checked whether this feature exists: \(error.message)")
            return nil
        }
    }

    /// The tweak with a name, or the switch of an unknown feature.
    static func key(ofFeature name: TweakName, _ known: Set<TweakKey>) throws(FleetProblem)
        -> TweakKey
    {
        if let key = name.key { return key }
        do throws(Failure) { return try key(of: name, among: known) } catch {
            if name.meant(among: known.sorted()).isEmpty, let feature = name.feature { return feature }
            throw FleetProblem(error)
        }
    }

    /// The values of a tweak in the fleet and on this host, highest precedence first.
    private static func hidden(
        _ tweak: TweakKey, _ values: FleetContents, of application: String
    ) -> [HiddenValue] {
        var found: [HiddenValue] = []
        if let value = try? OverridesFile(application: application).load()[tweak]?.tweakValue {
            found.append(HiddenValue(source: .overrides, value: value, from: nil, isHere: true))
        }
        for folder in ProvidedFolders.all(isPrivileged: false) {
            let path = "\(folder)/\(application)/\(ProvidedFile.name(for: .remote))"
            guard let json = try? KeptFile(path: path).read(),
                let file = try? ProvidedFile(json: json, path: path),
                let value = file.values[tweak]?.tweakValue
            else { continue }
            found.append(
                HiddenValue(source: .remote, value: value, from: "from \(file.from ?? path)", isHere: true))
            break
        }
        if let value = try? values[tweak]?.value.get() {
            found.append(
                HiddenValue(
                    source: .fleet, value: value.value, from: value.reason(in: .values), isHere: false))
        }
        return found
    }
}
#endif
