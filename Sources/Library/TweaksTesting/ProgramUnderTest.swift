// SPDX-License-Identifier: BSD-3-Clause
internal import Foundation
internal import TweakClient
internal import TweakJSON
internal import TweakProtocol
public import Tweaks

/// A running program whose tweaks and monitors a test reads and changes.
///
///     let program = try ProgramUnderTest("/usr/bin/spring", ["--headless"], values: [mass: 4])
///     try program.set(600, for: stiffness)
///     try program.wait(for: period) { $0 == 0.51 }
///     #expect(program.end() == 0)
///
/// The program gets its own home directory, into which `XDG_CONFIG_HOME` and similar variables point, so it
/// neither sees nor changes the user's settings, and several programs can run at the same time. When the last
/// reference is released, the process is killed and the directory removed.
///
/// Every method may be called on every thread, and blocks until the program has answered.
public final class ProgramUnderTest: Sendable {
    /// The path of the program's home directory.
    public let home: String
    private let process: Process
    private let title: String

    /// An error in starting or controlling a program.
    public struct Failure: Error, CustomStringConvertible {
        /// The program and the reason.
        public let description: String
    }

    /// Starts a program and waits until its tweaks can be read.
    ///
    /// - Parameters:
    ///   - path: The path of the executable, which must contain the Tweaks library.
    ///   - arguments: The arguments, without the program's name.
    ///   - environment: Environment variables besides those of this process.
    ///   - values: Overrides from the start. They are kept under the name of the executable, or the value of
    ///     `TWEAKS_APPLICATION` in `environment`.
    ///   - patience: The timeout.
    /// - Throws: ``Failure`` if the program cannot be started, exits, or does not answer in time, or the
    ///   values cannot be written.
    public init(
        _ path: String, _ arguments: [String] = [], environment: [String: String] = [:],
        values: [TweakKey: TweakValue] = [:], patience: Duration = .seconds(10)
    ) throws(Failure) {
        title = URL(fileURLWithPath: path).lastPathComponent
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "tweaks-\(UUID().uuidString)")
        do {
            for name in ["runtime", "config/tweaks"] {
                try FileManager.default.createDirectory(
                    at: folder.appendingPathComponent(name), withIntermediateDirectories: true,
                    attributes: [.posixPermissions: 0o700])
            }
        } catch {
            throw Failure(description: "\(folder.path): cannot be made: \(error.localizedDescription)")
        }
        home = folder.path
        process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(
            [
                "HOME": home, "XDG_CONFIG_HOME": home + "/config", "XDG_RUNTIME_DIR": home + "/runtime",
                "XDG_CACHE_HOME": home + "/cache", "XDG_DATA_HOME": home + "/data",
                "XDG_STATE_HOME": home + "/state",
            ]
        ) { $1 }.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        if !values.isEmpty {
            let application = environment["TWEAKS_APPLICATION"] ?? title
            do throws(OverridesError) {
                try OverridesFile(path: "\(home)/config/tweaks/\(application)/overrides.json")
                    .update(values.mapValues(Optional.some))
            } catch {
                throw Failure(description: "\(error)")
            }
        }
        process.standardOutput = try writer("output")
        process.standardError = try writer("errors")
        do { try withAllSignals { try process.run() } } catch {
            throw Failure(description: "\(path): cannot be started: \(error.localizedDescription)")
        }
        try waitUntilItAnswers(patience)
    }

    deinit {
        if process.isRunning { kill(processID, SIGKILL) }
        try? FileManager.default.removeItem(atPath: home)
    }

    private func writer(_ name: String) throws(Failure) -> FileHandle {
        let path = "\(home)/\(name)"
        guard FileManager.default.createFile(atPath: path, contents: nil),
            let file = FileHandle(forWritingAtPath: path)
        else { throw Failure(description: "\(path): cannot be written") }
        return file
    }

    private func waitUntilItAnswers(_ patience: Duration) throws(Failure) {
        let deadline = ContinuousClock.now + patience
        while true {
            do throws(ConnectionError) {
                _ = try connect().ask(DescribeProgram())
                return
            } catch {
                if let status = exitStatus {
                    throw failure("ended with status \(status) before it could be asked. \(errors)")
                }
                guard ContinuousClock.now < deadline else {
                    throw failure(
                        "cannot be asked after \(patience): \(error.reason). Is the Tweaks library in it? \(errors)"
                    )
                }
                usleep(5000)
            }
        }
    }

    // MARK: The process

    /// The process id of the program.
    public var processID: Int32 { process.processIdentifier }

    /// The exit status, or 128 plus the number of the signal that ended the program; `nil` while it runs.
    public var exitStatus: Int32? {
        guard !process.isRunning else { return nil }
        return process.terminationStatus + (process.terminationReason == .exit ? 0 : 128)
    }

    /// Everything that the program has written to standard output so far.
    public var output: String { text("output") }

    /// Everything that the program has written to standard error so far.
    public var errors: String { text("errors") }

    private func text(_ name: String) -> String {
        String(decoding: FileManager.default.contents(atPath: "\(home)/\(name)") ?? Data(), as: UTF8.self)
    }

    /// Sends SIGTERM, and SIGKILL if the program has not ended in time.
    ///
    /// - Parameter patience: The time that the program has to exit.
    /// - Returns: The ``exitStatus``. It is 143 for a program that does not handle SIGTERM.
    @discardableResult
    public func end(patience: Duration = .seconds(10)) -> Int32 {
        if process.isRunning { kill(processID, SIGTERM) }
        if !waits(patience, until: { !process.isRunning }) { kill(processID, SIGKILL) }
        process.waitUntilExit()
        return exitStatus ?? 0
    }

    /// Waits until the program exits on its own.
    ///
    /// - Parameter patience: The timeout.
    /// - Returns: The ``exitStatus``.
    /// - Throws: ``Failure`` after the timeout.
    @discardableResult
    public func waitForEnd(patience: Duration = .seconds(10)) throws(Failure) -> Int32 {
        _ = waits(patience, until: { !process.isRunning })
        guard let exitStatus else { throw failure("still runs after \(patience). \(errors)") }
        return exitStatus
    }

    // MARK: Its tweaks

    /// All tweaks, monitors and actions with their current values, in the order of declaration.
    ///
    /// - Throws: ``Failure`` if the program does not answer.
    public var tweaks: [(declaration: TweakDeclaration, value: TweakValue)] {
        get throws(Failure) {
            try ask(ListTweaks()).tweaks.map { ($0.declaration, $0.value ?? .nothing) }
        }
    }

    /// The current value of a tweak or a monitor.
    ///
    /// - Throws: ``Failure`` if no tweak or monitor has this name, or the program does not answer.
    public func value(of key: TweakKey) throws(Failure) -> TweakValue {
        try ask(GetTweak(tweak: key)).value ?? .nothing
    }

    /// Waits until a tweak or a monitor has a value that meets a condition.
    ///
    /// - Parameters:
    ///   - key: The name.
    ///   - patience: The timeout.
    ///   - condition: Returns whether the value is acceptable.
    /// - Returns: The value that meets the condition.
    /// - Throws: ``Failure`` after the timeout or if the program does not answer, and errors of the closure.
    @discardableResult
    public func wait(
        for key: TweakKey, patience: Duration = .seconds(10), until condition: (TweakValue) throws -> Bool
    ) throws -> TweakValue {
        var value = try value(of: key)
        let isMet = try waits(patience) {
            value = try self.value(of: key)
            return try condition(value)
        }
        guard isMet else { throw failure("\(key) is \(value) after \(patience)") }
        return value
    }

    /// Sets a tweak, as `tweak set` does. A number outside the limits is clamped.
    ///
    /// - Throws: ``Failure`` if there is no such tweak, it refuses the value, or the program does not answer,
    ///   perhaps because the value made it crash.
    public func set(_ value: TweakValue, for key: TweakKey) throws(Failure) {
        _ = try ask(SetTweak(tweak: key, value: .scalar(value)))
    }

    /// Resets a tweak: removes its override, so that the next provider or the default decides.
    ///
    /// - Throws: ``Failure`` if there is no such tweak, or the program does not answer.
    public func reset(_ key: TweakKey) throws(Failure) { _ = try ask(ResetTweaks(tweak: key)) }

    /// Runs an action, and returns when it has ended, even if an actor or a queue runs it.
    ///
    /// - Throws: ``Failure`` if there is no such action, or the program does not answer.
    public func run(_ key: TweakKey) throws(Failure) { _ = try ask(RunAction(tweak: key, wait: true)) }

    private func ask<Method: ControlMethod>(_ method: Method) throws(Failure) -> Method.Answer {
        do throws(ConnectionError) { return try connect().ask(method) } catch { throw failure(error.reason) }
    }

    private func connect() throws(ConnectionError) -> Connection {
        let directory = ControlDirectory(path: home + "/runtime/tweaks")
        return try Connection(to: RunningProgram(pid: processID, in: directory), .usual)
    }

    private func failure(_ problem: String) -> Failure {
        Failure(description: "\(title) (\(processID)): \(problem)")
    }
}

/// Waits until a condition is met.
///
/// - Returns: `false` after the timeout.
private func waits(_ patience: Duration, until condition: () throws -> Bool) rethrows -> Bool {
    let deadline = ContinuousClock.now + patience
    while try !condition() {
        guard ContinuousClock.now < deadline else { return false }
        usleep(5000)
    }
    return true
}

/// Calls a function with all signals unblocked. A process inherits the signal mask of the thread that starts
/// it, and test threads block nearly all signals, so SIGTERM would not end a program.
private func withAllSignals(_ body: () throws -> Void) rethrows {
    var none = sigset_t()
    var before = sigset_t()
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    try body()
}
