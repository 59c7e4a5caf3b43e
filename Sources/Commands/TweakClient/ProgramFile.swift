// SPDX-License-Identifier: BSD-3-Clause
package import CommandSupport
internal import TweakELF
internal import TweakOverrides
internal import TweakSystem

/// The executable of a program, running or not, for commands that examine the file.
package struct ProgramFile {
    /// The path to read it from. The file of a process may have been replaced.
    package let path: String
    /// The path for people.
    package let shownPath: String

    /// The executable with a name: a process id, a path, the name of a running program or that of one on the search path.
    package init(named name: String) throws(Failure) {
        if !name.isEmpty, name.allSatisfy({ $0.isASCII && $0.isNumber }) {
            guard let executable = executablePath(of: name) else {
                throw Failure(
                    "\(name): there is no such process, or it belongs to another user", .unavailable)
            }
            (path, shownPath) = ("/proc/\(name)/exe", executable)
            return
        }
        if name.contains("/") || isAccessible(name) {
            path = realPath(name) ?? name
        } else if let running = ProcessEntry.all.lazy.compactMap(\.executable)
            .first(where: { lastComponent(of: $0) == name })
        {
            path = running
        } else {
            guard let found = try? findExecutable(named: name) else {
                throw Failure(
                    "\(name): no program of this name is running, and there is no such file", .missing)
            }
            path = realPath(found) ?? found
        }
        shownPath = path
    }

    /// The name of the application, which its files have.
    package func application(warn: (String) -> Void) throws(Failure) -> String {
        var declared: [String] = []
        try failing {
            try ELFFile(path: path).forEachObject { (object) throws(ELFError) in
                if let name = try object.application() { declared.append(name) }
            }
        }
        return ApplicationName.first(
            environment: nil, declared: declared, executable: shownPath, problem: warn)
    }
}
