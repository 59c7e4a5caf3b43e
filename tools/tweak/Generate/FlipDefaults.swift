import Glibc
import CommandSupport
import Yams

/// Options that a file `.flip.yml` gives, in the working directory, as FlipTheSwitch reads it.
struct FlipDefaults {
    private static let path = ".flip.yml"
    private static let keys = ["input", "environment", "plist_output", "settings_output", "category_output"]

    private var values: [String: String] = [:]

    var input: String? { values["input"] }
    var environment: String? { values["environment"] }
    var plistOutput: String? { values["plist_output"] }
    var settingsOutput: String? { values["settings_output"] }
    var categoryOutput: String? { values["category_output"] }

    /// Reads the file; there are no defaults if there is none.
    static func inWorkingDirectory() throws(Failure) -> FlipDefaults {
        guard access(path, F_OK) == 0 else { return FlipDefaults() }
        return try FlipDefaults(yaml: try readInput(path, isNamed: false))
    }

    private init() {}

    private init(yaml: [UInt8]) throws(Failure) {
        guard let text = String(validating: yaml, as: UTF8.self) else { throw Self.failure("it is no UTF-8") }
        let node: Node?
        do { node = try Yams.compose(yaml: text) } catch { throw Self.failure("it is no YAML: \(error)") }
        guard let node else { return }
        guard let mapping = node.mapping else { throw Self.failure("names and values are expected") }
        for (name, value) in mapping {
            guard let name = name.string, Self.keys.contains(name) else {
                let place = name.mark.map { " in line \($0.line)" } ?? ""
                warn(
                    "\(Self.path): \"\(name.string ?? "…")\"\(place) is not known; known are "
                        + Self.keys.joined(separator: ", "))
                continue
            }
            guard let text = value.string, !text.isEmpty else {
                throw Self.failure("\(name): a text is expected")
            }
            values[name] = text
        }
    }

    private static func failure(_ reason: String) -> Failure {
        Failure("\(path): \(reason)", EX_DATAERR)
    }
}
