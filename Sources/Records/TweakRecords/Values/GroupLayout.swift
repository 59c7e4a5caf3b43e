// SPDX-License-Identifier: BSD-3-Clause
/// The tweaks of a built-in group, made by the library or by the macros.
package struct GroupLayout: Sendable {
    /// The name of the Swift type.
    package let type: String
    /// The name of the group with default values.
    package let usual: String
    package let fields: [GroupField]

    package static let all = [
        GroupLayout(type: "TweakAnimation", usual: "animation", fields: [.duration, .delay, .curve]),
        GroupLayout(
            type: "TweakSpring", usual: "spring", fields: [.mass, .stiffness, .damping, .initialVelocity]),
        GroupLayout(
            type: "TweakShadow", usual: "shadow", fields: [.color, .opacity, .radius, .offsetX, .offsetY]),
        GroupLayout(type: "TweakEdgeInsets", usual: "edgeInsets", fields: [.top, .left, .bottom, .right]),
    ]
}

/// A tweak of a built-in group.
package struct GroupField: Sendable {
    /// The name of the property.
    package let property: String
    /// The last part of the tweak's name.
    package let name: String
    package let defaultValue: TweakValue
    private var limits: ClosedRange<Double>?
    private var step: Double?
    private var choices: [String] = []
    /// The unit of its numbers.
    package private(set) var unit: String?

    /// The declaration under a name. A default outside the usual limits widens them.
    package func declaration(_ key: TweakKey, default value: TweakValue) -> TweakDeclaration {
        let type: TweakType =
            switch value {
            case .color: .color
            case .string: .string
            default: .double
            }
        var declaration = TweakDeclaration(
            key: key, type: type, defaultValue: value, step: step.map { .double($0) },
            choices: choices.map { TweakChoice(.string($0)) })
        if let limits, case .double(let number) = value {
            declaration.minimum = .double(min(limits.lowerBound, number))
            declaration.maximum = .double(max(limits.upperBound, number))
        }
        if let unit { declaration.attributes = [TweakDeclaration.Attribute(key: "unit", value: unit)] }
        return declaration
    }

    package static let duration = GroupField("duration", "Duration", 0.3, in: 0...10, step: 0.01, unit: "s")
    package static let delay = GroupField("delay", "Delay", 0.0, in: 0...10, step: 0.01, unit: "s")
    package static let curve = GroupField(
        "curve", "Curve", "easeInOut", choices: ["linear", "easeIn", "easeOut", "easeInOut"])

    package static let mass = GroupField("mass", "Mass", 1.0, in: 0.01...100)
    package static let stiffness = GroupField("stiffness", "Stiffness", 100.0, in: 0...1000)
    package static let damping = GroupField("damping", "Damping", 10.0, in: 0...100)
    package static let initialVelocity = GroupField(
        "initialVelocity", "Initial Velocity", 0.0, in: -100...100)

    package static let color = GroupField("color", "Color", .color(TweakColor(red: 0, green: 0, blue: 0)))
    package static let opacity = GroupField("opacity", "Opacity", 0.25, in: 0...1, step: 0.01)
    package static let radius = GroupField("radius", "Radius", 4.0, in: 0...100)
    package static let offsetX = GroupField("offsetX", "Offset X", 0.0, in: -100...100)
    package static let offsetY = GroupField("offsetY", "Offset Y", 2.0, in: -100...100)

    package static let top = GroupField("top", "Top", 0.0, in: -1000...1000)
    package static let left = GroupField("left", "Left", 0.0, in: -1000...1000)
    package static let bottom = GroupField("bottom", "Bottom", 0.0, in: -1000...1000)
    package static let right = GroupField("right", "Right", 0.0, in: -1000...1000)

    private init(
        _ property: String, _ name: String, _ defaultValue: TweakValue, in limits: ClosedRange<Double>? = nil,
        step: Double? = nil, choices: [String] = [], unit: String? = nil
    ) {
        self.property = property
        self.name = name
        self.defaultValue = defaultValue
        self.limits = limits
        self.step = step
        self.choices = choices
        self.unit = unit
    }
}
