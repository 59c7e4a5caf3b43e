internal import TweakSystem

/// By what overrides and presets of a program are kept, and people know it.
///
/// As a rule it is the last component of the executable's path. That is wrong for a host: all programs in Python would
/// share what is kept. So a program can say what it is called, in a declaration that is a note in its binary, and a
/// person with `TWEAKS_APPLICATION` in its environment.
package enum ApplicationName {
    package static let variable = "TWEAKS_APPLICATION"

    /// The name of the first of these that has one: the environment, what images declare, the executable.
    ///
    /// - Parameters:
    ///   - declared: What images of the program declare, in the order in which they are loaded.
    ///   - problem: Is told of names that cannot be used.
    package static func first(
        environment: String?, declared: [String], executable: String, problem: (String) -> Void
    ) -> String {
        let names =
            (environment.map { [(variable, $0)] } ?? [])
            + declared.map { ("the application that is declared", $0) }
        for (origin, name) in names {
            if isUsable(name) { return name }
            problem(
                "\(origin), \"\(name)\", is not a name: it has 1 to 200 bytes, no slash, and is not . or ..")
        }
        return lastComponent(of: executable)
    }

    /// Whether it can be the name of a directory.
    package static func isUsable(_ name: String) -> Bool {
        1...200 ~= name.utf8.count && name != "." && name != ".." && !name.utf8.contains(UInt8(ascii: "/"))
            && !name.utf8.contains(0)
    }
}
