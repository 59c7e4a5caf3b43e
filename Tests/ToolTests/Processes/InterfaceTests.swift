// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// The scenarios of `Tests/Programs/interface-scenarios` with the library that is installed, each in every way in which the
/// program is built, in a process and a home of its own.
@Suite struct `The interface of fbtweak.h` {
    /// Where plug-ins are built.
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    /// Runs a scenario.
    ///
    /// - Parameters:
    ///   - file: The text of a file that is there at the start, whose path below the home is the last argument if the
    ///     scenario takes it.
    ///   - forks: Whether there are children. What the threads held that a child does not have is lost in it.
    ///   - says: What it says on standard error.
    private func run(
        _ arguments: String..., file: (path: String, text: String)? = nil, takesFile: Bool = false,
        forks: Bool = false, says: String? = nil
    ) throws {
        for build in ProgramBuild.all {
            let home = try TemporaryDirectory()
            var arguments = arguments
            if let file {
                let path = try home.write(file.path, file.text)
                if takesFile { arguments.append(path) }
            }
            let settings = ["ASAN_OPTIONS": "detect_leaks=\(forks ? 0 : 1)"]
            let result = try TestSupport.run(
                build.path("interface-scenarios"), arguments, home: home,
                environment: build.environment.merging(settings) { $1 })
            #expect(
                result.succeeded && (says.map(result.error.contains) ?? result.error.isEmpty),
                "\(build) \(arguments): \(result.status) \(result.error)")
        }
    }

    @Test func `finds tweaks by name and reads them by handle`() throws { try run("find-and-read") }
    @Test func `reports declarations`() throws { try run("describe") }
    @Test func `iterates over categories, collections and tweaks in order`() throws { try run("walk") }
    @Test func `sets every type, and resets one tweak, a collection, a category and all`() throws {
        try run("set-and-reset")
    }
    @Test func `refuses invalid arguments with a reason`() throws { try run("refuse") }
    @Test func `keeps bound variables equal to tweaks`() throws { try run("bind") }
    @Test func `notifies observers before and after a change`() throws { try run("observe") }
    @Test func `lets callbacks add and remove observers and change tweaks`() throws {
        try run("observe-in-callbacks")
    }
    @Test func `calls no observer after its removal, on any thread`() throws {
        try run("observe-from-threads")
    }
    @Test func `reports when remote values are loaded, and why not`() throws {
        let values = #"{ "values": { "Sound": { "Mixer": { "Level": 3 } } } }"#
        try run(
            "loads", file: ("state/tweaks/interface-scenarios/remote.json", values), takesFile: true,
            says: "it is not JSON")
    }
    @Test func `passes values of both types when a variable gets another type`() throws {
        let values = #"{ "values": { "Features": { "Echo": { "limit": 3 } } } }"#
        try run(
            "another-type", file: ("state/tweaks/interface-scenarios/remote.json", values), takesFile: true)
    }
    @Test func `delivers changes from a queue when the program asks`() throws { try run("queue") }
    @Test func `makes and removes tweaks`() throws { try run("make-and-remove") }
    @Test func `runs actions`() throws { try run("run-actions") }
    @Test func `reaches what the macros declare`() throws { try run("macros") }
    @Test func `unbinds at the end of a scope in C++`() throws { try run("bindings") }
    // ThreadSanitizer ends a child that starts a thread.
    @Test(.enabled(if: sanitizer != "thread"))
    func `gives a forked child its own tweaks`() throws { try run("fork", forks: true) }

    @Test(.enabled(if: sanitizer != "thread"))
    func `can be used in children that are forked while threads use it`() throws {
        try run("fork-while-used", isLong ? "1000" : "50", forks: true)
    }

    @Test func `notifies all observers although one throws an exception, which the setter can catch`() throws
    {
        try run("leave-by-exception")
    }

    @Test func `recovers when a callback ends its thread`() throws { try run("leave-by-end-of-thread") }

    @Test func `recovers when a thread that uses it is cancelled at any time`() throws {
        try run("cancel-at-any-time", isLong ? "2000" : "50")
    }

    @Test(.timeLimit(.minutes(2)))
    func `returns from a set although others keep setting`() throws { try run("set-beside-others") }

    @Test func `bounds the queue of observers`() throws {
        try run("set-without-growing", isLong ? "500000" : "20000")
    }

    @Test func `gives eight threads untorn values while another sets them`() throws {
        try run("read-while-set", isLong ? "10" : "0.5")
    }

    @Test(arguments: sanitizer == nil ? Compiler.allCases : [.clang])
    func `has the tweaks of a plug-in only while it is open`(compiler: Compiler)
        throws
    {
        try run("open-and-close", plugin("plugin.so", compiler), plugin("copy.so", compiler))
    }

    @Test func `gives the tweaks of a plug-in their overrides when it is opened`() throws {
        let overrides = #"{"Plug-in": {"Reverb": {"Depth": 44}}}"#
        try run(
            "open-with-override", plugin("plugin.so", .clang),
            file: ("config/tweaks/interface-scenarios/overrides.json", overrides))
    }

    @Test func `keeps the tweaks of a plug-in that stays loaded`() throws {
        try run("open-and-keep", plugin("plugin.so", .clang, ["-Wl,-z,nodelete"]))
    }

    @Test func `takes no more memory however often a plug-in is opened`() throws {
        try run("open-often", plugin("plugin.so", .clang), isLong ? "10000" : "500")
    }

    @Test func `can be used by other threads while a plug-in is opened and closed`() throws {
        try run("open-while-used", plugin("plugin.so", .clang), isLong ? "5000" : "100")
    }

    private func plugin(_ name: String, _ compiler: Compiler, _ arguments: [String] = []) throws -> String {
        try compiler.compile(
            [Locations.package + "/Tests/Programs/interface-scenarios/plugin/plugin.c"], to: home(name),
            ["-std=c11", "-shared", "-fPIC", "-DDEBUG=1"]
                + (sanitizer.map { ["-fsanitize=\($0)"] } ?? []) + arguments,
            home: home)
        return home(name)
    }
}
