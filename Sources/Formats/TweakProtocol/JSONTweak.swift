// SPDX-License-Identifier: BSD-3-Clause
package import TweakJSON
package import TweakRecords

/// The JSON form of a tweak: its declaration, possibly with its state in a program. Scripts rely on the keys; missing
/// properties have no key.
package struct JSONTweak: Equatable, Sendable {
    package var declaration: TweakDeclaration
    /// The current or the initial value in the program.
    package var value: TweakValue?
    /// The provider of the current value.
    package var source: String?
    /// The value after the next start of a running program, or after its loop has passed the gate, if it differs.
    package var pendingValue: TweakValue?
    /// The name of the gate that changes of the tweak wait for.
    package var gate: String?
    /// The lease that gives the current value, or `nil`.
    package var lease: JSONLease?
    /// The way to another value, or `nil`.
    package var ramp: JSONRamp?
    /// The provider that introduced the tweak; `nil` if the program declares it or its library is older.
    package var introducedBy: String?
    /// The value of ``source``, if the program has stored another one in its adopted variable since; `nil` otherwise.
    package var overwrittenValue: TweakValue?
    /// Whether the override is the default in the sources, but not yet in the binary. Commands find that out; a program
    /// does not know it.
    package var waitsForBuild = false

    package init(
        _ declaration: TweakDeclaration, value: TweakValue? = nil, source: String? = nil,
        pendingValue: TweakValue? = nil, gate: String? = nil
    ) {
        self.declaration = declaration
        self.value = value
        self.source = source
        self.pendingValue = pendingValue
        self.gate = gate
    }
}

/// The JSON form of a lease.
package struct JSONLease: JSONStructure, Equatable, Sendable {
    /// The client that made it, such as `tweak 4711 ada`.
    package var by: String
    /// The seconds until it ends; `nil` if it ends with the client's connection.
    package var remaining: Double?
    /// The value when all leases of the tweak have ended.
    package var hiddenValue: JSONValue?

    package init(by: String, remaining: Double?, hiddenValue: JSONValue? = nil) {
        (self.by, self.remaining, self.hiddenValue) = (by, remaining, hiddenValue)
    }
}

extension JSONLease {
    package init(members: JSONMembers) throws(JSONError) {
        by = try members.read("by")
        remaining = try members.readIfPresent("remaining")
        hiddenValue = try members.readIfPresent("hiddenValue")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("by", by)
        writer.member("hiddenValue", hiddenValue)
        writer.member("remaining", remaining)
    }
}

/// The JSON form of a gradual change.
package struct JSONRamp: JSONStructure, Equatable, Sendable {
    /// The value at the end.
    package var target: JSONValue
    /// The seconds until then.
    package var remaining: Double

    package init(target: JSONValue, remaining: Double) { (self.target, self.remaining) = (target, remaining) }
}

extension JSONRamp {
    package init(members: JSONMembers) throws(JSONError) {
        target = try members.read("target")
        remaining = try members.read("remaining")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("remaining", remaining)
        writer.member("target", target)
    }
}

extension JSONTweak: JSONStructure {
    private struct Choice: JSONReadable {
        let value: JSONValue
        let label: String?

        init(json: JSONValue) throws(JSONError) {
            let members = try JSONMembers(json: json)
            (value, label) = (try members.read("value"), try members.readIfPresent("label"))
        }
    }

    package func writeMembers(to writer: inout JSONWriter) {
        let members = Member.all.span
        for index in members.indices { members[index].write(self, &writer) }
    }

    package init(members: JSONMembers) throws(JSONError) {
        let typeName: String = try members.read("type")
        guard let type = TweakType(typeName) else {
            throw .unexpected(place: ["type"], problem: ": unknown type \(typeName)")
        }
        func value(_ name: ByteText) throws(JSONError) -> TweakValue? {
            let value: JSONValue? = try members.readUnlessMissing(name)
            return value?.value(of: type)
        }
        let isMonitor = try members.readIfPresent("monitor") == true
        let choices: [Choice] = try members.readIfPresent("choices") ?? []
        var attributes: [TweakDeclaration.Attribute] = []
        for option in TweakOption.all {
            // A monitor is always read-only.
            guard let key = option.attribute, !(isMonitor && key == "read-only"),
                let text = try members.text(of: option)
            else { continue }
            attributes.append(TweakDeclaration.Attribute(key: key, value: text))
        }
        declaration = TweakDeclaration(
            key: TweakKey(
                try members.read("category"), try members.read("collection"), try members.read("name")),
            type: type, defaultValue: try value("default") ?? .nothing, minimum: try value("minimum"),
            maximum: try value("maximum"), step: try value("step"),
            choices: choices.compactMap { choice in
                choice.value.value(of: type).map { TweakChoice($0, label: choice.label) }
            },
            attributes: attributes, isMonitor: isMonitor)
        self.value = try value("value")
        source = try members.readIfPresent("source")
        pendingValue = try value("pendingValue")
        overwrittenValue = try value("overwrittenValue")
        gate = try members.readIfPresent("gate")
        introducedBy = try members.readIfPresent("introducedBy")
        lease = try members.readIfPresent("lease")
        ramp = try members.readIfPresent("ramp")
    }
}

/// A member of the JSON form of a tweak.
private struct Member: Sendable {
    let name: String
    /// Writes the name and the value, unless the tweak lacks it.
    let write: @Sendable (JSONTweak, inout JSONWriter) -> Void

    /// All members, sorted by name.
    static let all: [Member] = {
        let members = [
            Member("category") { .string($0.declaration.key.category) },
            Member("collection") { .string($0.declaration.key.collection) },
            Member("name") { .string($0.declaration.key.name) },
            Member("type") { .string($0.declaration.type.description) },
            Member("default") { $0.declaration.defaultValue },
            Member("value") { $0.value },
            Member("source") { $0.source.map(TweakValue.string) },
            Member("pendingValue") { $0.pendingValue },
            Member("overwrittenValue") { $0.overwrittenValue },
            Member("gate") { $0.gate.map(TweakValue.string) },
            Member("introducedBy") { $0.introducedBy.map(TweakValue.string) },
            Member("waitsForBuild") { $0.waitsForBuild ? true : nil },
            Member("monitor") { $0.declaration.isMonitor ? true : nil },
            Member("tweak", { $0.declaration.key }) { $1.write($0) },
            Member("lease", { $0.lease }) { $0.write(to: &$1) },
            Member("ramp", { $0.ramp }) { $0.write(to: &$1) },
        ]
        return (members + TweakOption.all.map(Member.init)).sorted { ByteText($0.name) < ByteText($1.name) }
    }()

    private init<Value>(
        _ name: String, _ value: @escaping @Sendable (JSONTweak) -> Value?,
        _ write: @escaping @Sendable (Value, inout JSONWriter) -> Void
    ) {
        self.name = name
        self.write = { tweak, writer in
            guard let value = value(tweak) else { return }
            writer.name(name)
            write(value, &writer)
        }
    }

    private init(_ name: String, _ value: @escaping @Sendable (JSONTweak) -> TweakValue?) {
        self.init(name, value) { $1.write($0) }
    }

    private init(_ option: TweakOption) {
        self.init(option.name, { option.setting($0.declaration) }) { setting, writer in
            switch setting {
            case .value(let value): writer.write(value)
            case .choices(let choices):
                writer.array(count: choices.count) { writer, index in
                    let choice = choices[index]
                    writer.object { writer in
                        if let label = choice.label {
                            writer.name("label")
                            writer.write(text: label)
                        }
                        writer.name("value")
                        writer.write(choice.value)
                    }
                }
            }
        }
    }
}

extension JSONMembers {
    /// The value of an option's attribute, or `nil`.
    fileprivate func text(of option: TweakOption) throws(JSONError) -> String? {
        let name = ByteText(option.name)
        switch option.form {
        case .field: return nil
        case .text: return try readIfPresent(name)
        case .digits:
            let number: Int? = try readIfPresent(name)
            return number.map { String($0) }
        case .flag: return try readIfPresent(name) == true ? "" : nil
        }
    }
}
