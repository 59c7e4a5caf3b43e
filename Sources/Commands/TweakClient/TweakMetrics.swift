// SPDX-License-Identifier: BSD-3-Clause
package import TweakProtocol
internal import TweakRecords

/// Monitors and tweaks of programs as metrics: numbers and Bools as gauges, and named values as state sets.
///
///     # TYPE tweak_monitor gauge
///     # HELP tweak_monitor The value of a monitor.
///     tweak_monitor{program="motor",name="Motor/State/Speed",unit="rpm"} 12.5
///
/// Source: OpenMetrics 1.0.0, and Prometheus's text format 0.0.4.
package struct TweakMetrics {
    package enum Format: Sendable {
        /// OpenMetrics 1.0.0.
        case openMetrics
        /// The older format, which every version of Prometheus reads. It has no state sets, but gauges.
        case prometheus

        package var contentType: String {
            switch self {
            case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
            case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
            }
        }
    }

    private enum Family: String, CaseIterable {
        case up = "tweak_program_up"
        case monitor = "tweak_monitor"
        case monitorState = "tweak_monitor_state"
        case value = "tweak_value"
        case valueState = "tweak_value_state"
        case omitted = "tweak_program_omitted"

        var isStateSet: Bool { self == .monitorState || self == .valueState }

        var help: String {
            switch self {
            case .up: "Whether the program runs and answers."
            case .monitor: "The value of a monitor."
            case .monitorState: "The state that a monitor has."
            case .value: "The value of a tweak, and the provider that it comes from."
            case .valueState: "The choice that a tweak has, and the provider that it comes from."
            case .omitted: "How many monitors and tweaks are missing, because there are too many."
            }
        }
    }

    private let format: Format
    private var samples: [Family: [UInt8]] = [:]
    private var size = 0

    /// The size limit of all metrics.
    private static let most = 16 << 20
    /// A value with more states is a number.
    private static let mostStates = 64

    package init(_ format: Format) { self.format = format }

    /// Adds a program.
    ///
    /// - Parameters:
    ///   - process: Its process id, if the program may have several processes.
    ///   - tweaks: Its tweaks with their values; `nil` if it does not answer.
    package mutating func add(_ program: String, process: Int32? = nil, _ tweaks: [JSONTweak]?) {
        let program = [("program", program)] + (process.map { [("process", "\($0)")] } ?? [])
        add(.up, program, tweaks == nil ? "0" : "1")
        var (names, omitted): (Set<String>, Int) = ([], 0)
        for tweak in tweaks ?? [] {
            let name = "\(tweak.declaration.key)"
            // A repeated sample would make all metrics invalid.
            guard let value = tweak.value, names.insert(Self.escape(name)).inserted else { continue }
            if size > Self.most {
                omitted += 1
            } else {
                add(tweak.declaration, value, tweak.source, program + [("name", name)])
            }
        }
        if omitted > 0 { add(.omitted, program, "\(omitted)") }
    }

    private mutating func add(
        _ tweak: TweakDeclaration, _ value: TweakValue, _ source: String?, _ labels: [(String, String)]
    ) {
        var labels = labels
        if let source, !tweak.isMonitor { labels.append(("source", source)) }
        let states = Self.states(of: tweak, having: value)
        let family: Family = tweak.isMonitor ? .monitor : .value
        guard states.isEmpty else {
            let family: Family = tweak.isMonitor ? .monitorState : .valueState
            for (name, isActive) in states {
                add(family, labels + [(family.rawValue, name)], isActive ? "1" : "0")
            }
            return
        }
        if let unit = tweak.unit { labels.append(("unit", unit)) }
        switch value {
        case .bool(let flag): add(family, labels, flag ? "1" : "0")
        case .integer(let number): add(family, labels, "\(number)")
        case .double(let number):
            add(
                family, labels,
                number.isFinite ? "\(number)" : number.isNaN ? "NaN" : number < 0 ? "-Inf" : "+Inf")
        // Texts are no numbers, and colours no quantities.
        case .string, .color, .nothing: break
        }
    }

    /// The states, of which exactly one is active; empty for a number.
    private static func states(
        of tweak: TweakDeclaration, having value: TweakValue
    ) -> [(name: String, isActive: Bool)] {
        let choices = tweak.choices
        let isNumber = tweak.canBeSampled && choices.allSatisfy { $0.label == nil }
        guard !choices.isEmpty, choices.count <= mostStates, !isNumber else { return [] }
        var (states, names): ([(String, Bool)], Set<String>) = ([], [])
        func add(_ label: String?, _ state: TweakValue) {
            var name = label ?? "\(state)"
            if names.contains(escape(name)) { name += " (\(state))" }
            if names.insert(escape(name)).inserted {
                states.append((name, state == value && !states.contains { $0.1 }))
            }
        }
        for choice in choices { add(choice.label, choice.value) }
        if !states.contains(where: \.1) { add(nil, value) }
        return states
    }

    private mutating func add(_ family: Family, _ labels: [(String, String)], _ value: String) {
        let written = labels.map { "\($0)=\"\(Self.escape($1))\"" }.joined(separator: ",")
        let line = Array("\(family.rawValue){\(written)} \(value)\n".utf8)
        samples[family, default: []] += line
        size += line.count
    }

    /// The metrics as text.
    package var text: [UInt8] {
        var text: [UInt8] = []
        for family in Family.allCases {
            guard let lines = samples[family] else { continue }
            let type = family.isStateSet && format == .openMetrics ? "stateset" : "gauge"
            text += "# TYPE \(family.rawValue) \(type)\n# HELP \(family.rawValue) \(family.help)\n".utf8
            text += lines
        }
        if format == .openMetrics { text += "# EOF\n".utf8 }
        return text
    }

    /// A label's value. A carriage return may not be anywhere in metrics.
    private static func escape(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            case "\r": escaped += "\\\\r"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
