// SPDX-License-Identifier: BSD-3-Clause
package import TweakJSON
package import TweakRecords

/// The values that an optimizer can try, made from the declarations of tweaks.
package struct SearchSpace {
    /// The tweaks of the space.
    package private(set) var dimensions: [(tweak: TweakDeclaration, values: Values)] = []
    /// The settable tweaks that have too many values, with the reason.
    package private(set) var leftOut: [(key: TweakKey, reason: String)] = []

    package enum Values: Sendable {
        case integers(ClosedRange<Int128>, step: Int128, isLogarithmic: Bool)
        case numbers(ClosedRange<Double>, step: Double?, isLogarithmic: Bool)
        case choices([TweakValue])
    }

    package init(_ tweaks: some Sequence<TweakDeclaration>) {
        for tweak in tweaks where !tweak.isMonitor && !tweak.isReadOnly && tweak.type != .action {
            if let values = Values(of: tweak) {
                dimensions.append((tweak, values))
            } else {
                let lacking = tweak.type.isNumeric ? "limits" : "choices"
                leftOut.append((tweak.key, "it has no \(lacking)"))
            }
        }
    }

    /// The JSON form of an Optuna space: the names, with what `optuna.distributions.json_to_distribution` reads.
    ///
    /// Source: `optuna.distributions` of Optuna 4.
    package var optuna: JSONValue {
        var members: JSONObject = [:]
        for (tweak, values) in dimensions {
            members["\(tweak.key)"] = values.optuna
        }
        return .object(members)
    }

    /// The JSON form of tunable parameters for MLOS, a group for each collection.
    ///
    /// Source: `tunable-params-schema.json` of mlos_bench.
    package var mlos: JSONValue {
        var groups: [String: JSONObject] = [:]
        for (tweak, values) in dimensions {
            let group = "\(TweakKey(tweak.key.category, tweak.key.collection, ""))".dropLast()
            groups["\(group)", default: [:]]["\(tweak.key)"] = values.mlos(of: tweak)
        }
        var members: JSONObject = [:]
        for (group, parameters) in groups {
            members[group] = object(["cost": .scalar(1), "params": .object(parameters)])
        }
        return .object(members)
    }

    /// Leaves out what MLOS cannot name, and numbers whose default is none.
    package mutating func removeUnfitForMLOS() {
        func isNameable(_ key: TweakKey) -> Bool {
            !"\(key)".utf8.contains(UInt8(ascii: "!")) && !"\(key)".hasPrefix("$")
        }
        dimensions.removeAll { tweak, values in
            let reason: String
            if !isNameable(tweak.key) {
                reason = "MLOS allows no ! in names, and no $ at the beginning of a group"
            } else if tweak.defaultValue == .absent, tweak.isOptional, !values.areChoices {
                reason = "MLOS needs a number as the default, and it is none"
            } else {
                return false
            }
            leftOut.append((tweak.key, reason))
            return true
        }
    }
}

extension SearchSpace.Values {
    /// - Returns: `nil` if there are no limits or choices.
    package init?(of tweak: TweakDeclaration) {
        let hasNone = tweak.isOptional && !tweak.choices.contains { $0.value == .absent }
        let none: [TweakValue] = hasNone ? [.absent] : []
        if !tweak.choices.isEmpty {
            self = .choices(tweak.choices.map(\.value) + none)
        } else if tweak.type == .bool {
            self = .choices([false, true] + none)
        } else if let low = tweak.minimum, let high = tweak.maximum,
            let range = Self(tweak, from: low, to: high)
        {
            self = range.withoutLogarithmicSteps
        } else {
            return nil
        }
    }

    /// A range of a number, with the step and the scale of its tweak.
    ///
    /// - Returns: `nil` unless both ends are finite numbers and ascend.
    package init?(_ tweak: TweakDeclaration, from low: TweakValue, to high: TweakValue) {
        let isLogarithmic = tweak.scale == .log
        switch (low, high) {
        case (.integer(let low), .integer(let high)) where low < high:
            var step: Int128 = 1
            if case .integer(let declared)? = tweak.step, 1...(high - low) ~= declared { step = declared }
            self = .integers(
                low...(high - (high - low) % step), step: step, isLogarithmic: isLogarithmic && low > 0)
        case (.double(let low), .double(let high)) where low < high && (high - low).isFinite:
            var step: Double?
            if case .double(let declared)? = tweak.step, declared > 0, declared <= high - low {
                step = declared
            }
            self = .numbers(low...high, step: step, isLogarithmic: isLogarithmic && low > 0)
        default: return nil
        }
    }

    fileprivate var areChoices: Bool {
        if case .choices = self { true } else { false }
    }

    /// Optimizers have either steps or a logarithmic scale.
    private var withoutLogarithmicSteps: Self {
        switch self {
        case .integers(let range, _, isLogarithmic: true): .integers(range, step: 1, isLogarithmic: true)
        case .numbers(let range, _, isLogarithmic: true): .numbers(range, step: nil, isLogarithmic: true)
        default: self
        }
    }

    fileprivate var optuna: JSONValue {
        switch self {
        case .integers(let range, let step, let isLogarithmic):
            distribution(
                "IntDistribution",
                [
                    "low": .scalar(.integer(range.lowerBound)), "high": .scalar(.integer(range.upperBound)),
                    "step": .scalar(.integer(step)), "log": .scalar(.bool(isLogarithmic)),
                ])
        case .numbers(let range, let step, let isLogarithmic):
            distribution(
                "FloatDistribution",
                [
                    "low": .scalar(.double(range.lowerBound)), "high": .scalar(.double(range.upperBound)),
                    "step": step.map { .scalar(.double($0)) } ?? .null, "log": .scalar(.bool(isLogarithmic)),
                ])
        case .choices(let values):
            distribution("CategoricalDistribution", ["choices": .array(values.map(JSONValue.scalar))])
        }
    }

    private func distribution(_ name: String, _ attributes: [String: JSONValue]) -> JSONValue {
        object(["name": .scalar(.string(name)), "attributes": object(attributes)])
    }

    fileprivate func mlos(of tweak: TweakDeclaration) -> JSONValue {
        var members: [String: JSONValue] = ["default": .scalar(tweak.defaultValue)]
        members["description"] = (tweak.description ?? tweak.title).map { .scalar(.string($0)) }
        members["meta"] = tweak.unit.map { object(["unit": .scalar(.string($0))]) }
        switch self {
        case .integers(let range, let step, let isLogarithmic):
            members["type"] = .scalar("int")
            members["range"] = .array([
                .scalar(.integer(range.lowerBound)), .scalar(.integer(range.upperBound)),
            ])
            if step > 1 {
                let count = (range.upperBound - range.lowerBound) / step + 1
                members["quantization_bins"] = .scalar(.integer(count))
            }
            if isLogarithmic { members["log"] = .scalar(true) }
        case .numbers(let range, let step, let isLogarithmic):
            members["type"] = .scalar("float")
            members["range"] = .array([
                .scalar(.double(range.lowerBound)), .scalar(.double(range.upperBound)),
            ])
            let count = step.flatMap {
                Int64(exactly: ((range.upperBound - range.lowerBound) / $0).rounded(.down))
            }
            if let count, count > 0 { members["quantization_bins"] = .scalar(.integer(Int128(count) + 1)) }
            if isLogarithmic { members["log"] = .scalar(true) }
        case .choices(let values):
            members["type"] = .scalar("categorical")
            members["values"] = .array(values.map(JSONValue.scalar))
        }
        return object(members)
    }
}

private func object(_ members: [String: JSONValue]) -> JSONValue {
    .object(JSONObject(uniqueKeysWithValues: members.map { (ByteText($0), $1) }))
}
