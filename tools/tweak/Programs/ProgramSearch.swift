import Glibc
import CommandSupport
import Tweaks

/// Finds the programs that a person names.
enum ProgramSearch {
    /// The programs of a name: process id, path or application.
    ///
    /// A path is one if it has a slash or if there is such a file; then a program that runs from it is asked. What
    /// does not run, or does not want to be asked, is found by its file: of an application by the search path, or its
    /// overrides alone.
    ///
    /// - Parameters:
    ///   - checkingValues: Whether it must be known which values the tweaks take.
    ///   - patience: How long one that runs is waited for.
    /// - Returns: Several only of those that run.
    static func programs(
        named name: String, checkingValues: Bool = false, _ patience: Patience = .usual
    ) throws(Failure) -> [any Program] {
        if !name.isEmpty, name.allSatisfy({ $0.isASCII && $0.isNumber }) {
            return [try program(withID: name, patience)]
        }
        if name.contains("/") || access(name, F_OK) == 0 {
            let path = realPath(name) ?? name
            let running = try listening(patience) { $0 == path }
            return running.isEmpty ? [try OfflineProgram(path: path)] : running
        }
        let running = try listening(patience) { lastComponent(of: $0) == name }
        if !running.isEmpty { return running }
        if let path = pathInSearchPath(of: name) { return [try OfflineProgram(path: path)] }
        return [try application(name, checkingValues: checkingValues)]
    }

    private static func program(withID text: String, _ patience: Patience) throws(Failure) -> any Program {
        guard let pid = pid_t(text), kill(pid, 0) == 0 || errno == EPERM else {
            throw Failure("\(text): there is no such process", EX_UNAVAILABLE)
        }
        if let running = RunningProgram(pid: pid), let program = try LiveProgram(running, patience) {
            return program
        }
        guard let path = executablePath(of: text) else {
            throw Failure("\(text): the process does not want to be asked", EX_UNAVAILABLE)
        }
        return try OfflineProgram(path: path)
    }

    private static func listening(
        _ patience: Patience, _ isMeant: (String) -> Bool
    ) throws(Failure) -> [LiveProgram] {
        var programs: [LiveProgram] = []
        for running in RunningProgram.all() where running.executable.map(isMeant) == true {
            if let program = try LiveProgram(running, patience) { programs.append(program) }
        }
        return programs
    }

    private static func application(_ name: String, checkingValues: Bool) throws(Failure) -> OfflineProgram {
        let directory = try withFiles { () throws(OverridesError) in
            try OverridesFile(application: name).directory
        }
        guard !name.isEmpty, access(directory, F_OK) == 0 else {
            throw Failure("\(name): no program of this name runs, and there is no such file", EX_NOINPUT)
        }
        guard !checkingValues else {
            throw Failure(
                "\(name): it does not run, and its executable is not known; give the path", EX_NOINPUT)
        }
        return try OfflineProgram(application: name)
    }
}

/// Where an executable is that a shell would find by its name.
func pathInSearchPath(of name: String) -> String? {
    let directories = environment("PATH")?.split(separator: ":") ?? []
    return directories.lazy.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
}
