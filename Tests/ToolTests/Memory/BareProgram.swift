// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// A program in C with tweaks and without the library, and the command `tweak` for it.
final class BareProgram {
    let home: TemporaryDirectory
    let path: String
    private(set) var process: RunningCommand?

    /// Prints its values whenever they are others.
    static let source = #"""
        #include <fbtweak.h>
        #include <stdio.h>
        #include <string.h>
        #include <unistd.h>

        static void nothing(void) {}

        int main(int argc, char **argv) {
          char last[500] = "";
          FBTweakAction("Bare", "Values", "Act", nothing);
          for (;;) {
            char line[500];
            int count = FBTweakValue("Bare", "Values", "Count", 5, 0, 10);
            double ratio = FBTweakValue("Bare", "Values", "Ratio", 0.5);
            bool flag = FBTweakValue("Bare", "Values", "Flag", false);
            const char *mode =
                FBTweakValue("Bare", "Values", "Mode", "slow", FBTweakChoices("slow", ("fast", "quick"), ""));
            const char *text = FBTweakValue("Bare", "Values", "Text", "hello");
            fbtweak_color ink = FBTweakValue("Bare", "Values", "Ink", FBTweakRGBA(1, 2, 3, 255));
            int fixed = FBTweakValue("Bare", "Values", "Fixed", 1, FBTweakReadOnly);
            int port = FBTweakValue("Bare", "Values", "Port", 80, FBTweakNeedsRestart);
            int again = FBTweakValue("Bare", "Values", "Count", 5, 0, 10);
            snprintf(line, sizeof(line), "%d %g %d %s %s %d %d %d %d", count, ratio, flag, *mode ? mode : "-", text,
                     ink.red, fixed, port, again);
            if (strcmp(line, last) != 0)
              puts(strcpy(last, line));
            fflush(stdout);
            usleep(1000);
            if (access("next", F_OK) == 0 && argc > 1)
              execv(argv[1], argv + 1);
          }
        }

        """#

    /// What it prints at first.
    static let defaults = "5 0.5 0 slow hello 1 1 80 5"

    /// - Parameters:
    ///   - name: Of the executable.
    ///   - compiling: What else the compiler is told.
    convenience init(
        named name: String = "bare", _ source: String = BareProgram.source, compiling flags: [String] = []
    ) throws {
        try self.init(named: name, source) { source, path, home in
            try Compiler.gcc.compile([source], to: path, ["-DDEBUG", "-std=gnu11"] + flags, home: home)
        }
    }

    /// - Parameters:
    ///   - file: The name of the source.
    ///   - compile: Gets the paths of the source and of the executable.
    init(
        named name: String, _ source: String = BareProgram.source, in file: String = "bare.c",
        compile: (String, String, TemporaryDirectory) throws -> Void
    ) throws {
        home = try TemporaryDirectory()
        path = home(name)
        try compile(try home.write(file, source), path, home)
    }

    deinit { process?.kill() }

    /// Starts it, and waits until it prints.
    @discardableResult
    func start(_ arguments: [String] = [], environment: [String: String] = [:], by command: [String] = [])
        throws
        -> RunningCommand
    {
        let words = command + [path] + arguments
        let process = try TestSupport.start(
            words[0], Array(words.dropFirst()), home: home, environment: environment, in: home.path)
        self.process = process
        #expect(waitUntil { !process.written.output.isEmpty || !process.isRunning })
        return process
    }

    func end() {
        process?.kill()
        _ = process?.wait()
    }

    var pid: Int32 { process?.processID ?? 0 }
    var title: String { "\(URL(fileURLWithPath: path).lastPathComponent) (\(pid))" }
    /// What it says of values that are set.
    var notice: String {
        "tweak: warning: \(title): the change lasts for this run only, because the Tweaks library is not in the process\n"
    }

    /// Runs the command on the process.
    func tweak(_ command: String, _ arguments: String...) throws -> CommandResult {
        try self.command([command, "\(pid)"] + arguments)
    }

    /// Runs the command with the whole command line.
    func command(_ arguments: [String], environment: [String: String] = [:]) throws -> CommandResult {
        try run(Locations.product("tweak"), arguments, home: home, environment: environment)
    }

    /// Waits until the program has these values.
    func expect(_ values: String, _ location: SourceLocation = #_sourceLocation) {
        #expect(waitUntil { lastLine == values[...] || process?.isRunning != true }, sourceLocation: location)
        #expect(lastLine == values[...], sourceLocation: location)
    }

    private var lastLine: Substring? { process?.written.output.split(separator: "\n").last }
}
