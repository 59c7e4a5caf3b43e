// SPDX-License-Identifier: BSD-3-Clause
#if Remote
internal import Crypto
internal import TweakFormats
package import TweakJSON
package import TweakRecords
internal import TweakSystem

/// The tweaks that one build of an application declares, as published in etcd.
///
///     { "program": "/usr/bin/search", "by": "root@web1", "at": "2026-11-25T17:00:00Z",
///       "tweaks": [ { "tweak": "Search/Index/Limit", "type": "int32", "minimum": 1, "maximum": 100 } ] }
package struct DeclaredBuild: Sendable {
    /// The name of its key: the build id of the executable, and a digest of the declarations, which also come from its
    /// libraries.
    package let id: String
    /// The path of the executable on the host that published it.
    package let program: String
    /// The host that published it.
    package let by: String
    /// The time, in the format of RFC 3339.
    package let at: String
    package let tweaks: [TweakKey: TweakDeclaration]

    /// The maximum bytes of a build in etcd, which accepts 1.5 MiB in a request.
    package static let largestSize = 1 << 19
    private static let longestID = 200

    /// - Parameters:
    ///   - buildID: The build id of the executable in hexadecimal digits, if it has one.
    ///   - declarations: The first declaration of each tweak counts.
    /// - Throws: ``FleetProblem`` if they are larger than ``largestSize``.
    package init(
        of program: String, buildID: String?, by: String, _ declarations: [TweakDeclaration]
    ) throws(FleetProblem) {
        (self.program, self.by, at) = (program, by, timestamp(.since1970))
        tweaks = Dictionary(declarations.map { ($0.key, $0) }) { first, _ in first }
        let digest = SHA256.hash(data: JSONValue.array(Self.json(of: tweaks)).json())
        id = "\((buildID ?? "none").prefix(64)).\(digest.prefix(8).hexadecimal)"
        let size = json().count
        guard size <= Self.largestSize else {
            throw .impossible(
                "\(program): its \(tweaks.count) declarations have \(size) bytes, at most \(Self.largestSize) are "
                    + "published")
        }
    }

    /// Parses an entry of etcd. Unknown members are ignored.
    init(_ json: [UInt8], id: String) throws(FormatError) {
        let path = "schema/\(id)"
        let value = try JSONParser.value(of: json, at: path, largestSize: Self.largestSize)
        var members = try Members(value, JSONPlace(path: path))
        self.id = id
        program = try members.anyText("program") ?? ""
        (by, at) = (try members.anyText("by") ?? "", try members.anyText("at") ?? "")
        let declarations = try members.array("tweaks", "an array of tweaks") {
            (place, value) throws(FormatError) in try Self.declaration(value, place)
        }
        tweaks = Dictionary(declarations.map { ($0.key, $0) }) { first, _ in first }
    }

    private static func declaration(
        _ value: JSONValue, _ place: JSONPlace<FormatError>
    ) throws(FormatError) -> TweakDeclaration {
        var members = try Members(value, place)
        let key = try members.tweak("tweak")
        let typeName = try members.required("type", members.anyText("type"), "the type of the tweak")
        guard let type = TweakType(typeName) else {
            throw members.invalid("type", "unknown type \(typeName)")
        }
        func typed(
            _ place: JSONPlace<FormatError>, _ value: JSONValue, _ isPossible: Bool = true
        ) throws(FormatError) -> TweakValue {
            guard isPossible, let value = value.value(of: type) else {
                throw place.unexpected(value, type.withArticle)
            }
            return value
        }
        func limit(_ name: String) throws(FormatError) -> TweakValue? {
            try members.take(name) { (place, value) throws(FormatError) in
                try typed(place, value, type.isNumeric && value != .scalar(.absent))
            }
        }
        let (minimum, maximum) = (try limit("minimum"), try limit("maximum"))
        let choices = try members.arrayIfPresent("choices", "an array of choices") {
            (place, value) throws(FormatError) in
            var choice = try Members(value, place)
            let value = try choice.take("value") { (place, value) throws(FormatError) in
                try typed(place, value)
            }
            return TweakChoice(
                try choice.required("value", value, type.withArticle), label: try choice.anyText("label"))
        }
        var attributes: [TweakDeclaration.Attribute] = []
        if let unit = try members.anyText("unit") { attributes.append(.init(key: "unit", value: unit)) }
        if try members.flag("optional") ?? false { attributes.append(.init(key: "optional", value: "")) }
        if try members.flag("readOnly") ?? false { attributes.append(.init(key: "read-only", value: "")) }
        return TweakDeclaration(
            key: key, type: type, defaultValue: .nothing, minimum: minimum, maximum: maximum,
            choices: choices ?? [], attributes: attributes,
            isMonitor: try members.flag("monitor") ?? false)
    }

    func json() -> [UInt8] {
        JSONValue.object([
            "program": .scalar(.string(program)), "by": .scalar(.string(by)), "at": .scalar(.string(at)),
            "tweaks": .array(Self.json(of: tweaks)),
        ]).json()
    }

    /// The restrictions of values, without defaults, which may be secret, and without texts for people.
    package static func json(of tweaks: [TweakKey: TweakDeclaration]) -> [JSONValue] {
        tweaks.sorted { $0.key < $1.key }.map { key, declaration in
            var members: JSONObject = [
                "tweak": .scalar(.string("\(key)")), "type": .scalar(.string("\(declaration.type)")),
            ]
            members["minimum"] = declaration.minimum.map { .scalar($0) }
            members["maximum"] = declaration.maximum.map { .scalar($0) }
            members["unit"] = declaration.unit.map { .scalar(.string($0)) }
            if declaration.isOptional { members["optional"] = .scalar(true) }
            if declaration.isMonitor {
                members["monitor"] = .scalar(true)
            } else if declaration.isReadOnly {
                members["readOnly"] = .scalar(true)
            }
            if !declaration.choices.isEmpty {
                members["choices"] = .array(
                    declaration.choices.map { choice in
                        var members: JSONObject = ["value": .scalar(choice.value)]
                        members["label"] = choice.label.map { .scalar(.string($0)) }
                        return .object(members)
                    })
            }
            return .object(members)
        }
    }

    /// Returns whether a key's name is that of a build. Others are foreign.
    static func isID(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return text.utf8.count <= longestID && parts.count == 2
            && parts.allSatisfy { part in !part.isEmpty && part.allSatisfy { isDigitOrLetter($0) } }
    }

    private static func isDigitOrLetter(_ byte: UInt8) -> Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
    }
}

/// The declarations of all published builds of an application.
package struct FleetDeclarations: Sendable {
    /// Newest first.
    package let builds: [DeclaredBuild]
    /// Messages about unreadable builds and foreign keys.
    package let strangers: [String]

    package init() { (builds, strangers) = ([], []) }

    init(_ range: EtcdRange, _ keys: FleetKeys) {
        var (builds, strangers): ([DeclaredBuild], [String]) = ([], [])
        for entry in range.entries {
            guard let id = keys.build(of: entry.key) else {
                strangers.append(
                    "\(String(decoding: entry.key, as: UTF8.self)): this is not the name of a build")
                continue
            }
            do throws(FormatError) { builds.append(try DeclaredBuild(entry.value, id: id)) } catch {
                strangers.append("\(error)")
            }
        }
        (self.builds, self.strangers) = (builds, strangers)
    }

    /// All declared tweaks.
    package var tweaks: Set<TweakKey> { builds.reduce(into: []) { $0.formUnion($1.tweaks.keys) } }

    /// All declared tweaks, as the newest build with each of them declares it.
    package var newest: [TweakKey: TweakDeclaration] {
        builds.reversed().reduce(into: [:]) { $0.merge($1.tweaks) { _, newer in newer } }
    }

    /// The newest build that declares a tweak, or `nil`.
    package func newestBuild(declaring tweak: TweakKey) -> DeclaredBuild? {
        builds.first { $0.tweaks[tweak] != nil }
    }

    /// The reason why no build that declares a tweak takes a value; `nil` if one does, or if none declares the tweak.
    package func refusal(of value: TweakValue, for tweak: TweakKey) -> String? {
        var reason: String?
        for declaration in builds.compactMap({ $0.tweaks[tweak] }) {
            do throws(TweakValueError) {
                _ = try declaration.admit(value)
                return nil
            } catch {
                reason = reason ?? "\(error)"
            }
        }
        return reason
    }

    /// Throws unless all builds that declare a tweak accept a value as it is.
    package func check(_ value: TweakValue, for tweak: TweakKey) throws(FleetProblem) {
        for build in builds {
            guard let declaration = build.tweaks[tweak] else { continue }
            let admission: TweakDeclaration.Admission
            do throws(TweakValueError) { admission = try declaration.admit(value) } catch {
                throw .impossible(build.refusal("\(error)"))
            }
            guard !admission.wasClamped else {
                let reason = outsideLimits("\(tweak): \(value)", allowed: declaration.allowed)
                throw .impossible(build.refusal(reason))
            }
        }
    }
}

extension FleetDeclarations {
    /// Throws unless every build takes all values, also the one for other hosts, and all filters are known.
    package func check(_ value: FleetValue, for tweak: TweakKey) throws(FleetProblem) {
        try check(value.value, for: tweak)
        if let other = value.otherwise { try check(other.value, for: tweak) }
        do throws(FormatError) { try value.checkFilters(for: tweak) } catch { throw .impossible("\(error)") }
    }
}

extension DeclaredBuild {
    /// The message about a value that this build refuses.
    package func refusal(_ reason: String) -> String {
        "\(reason) (build \(id.prefix(12)) of \(program), published by \(by) at \(at))"
            + FleetWording.choose("; --force sets it anyway")
    }
}
#endif
