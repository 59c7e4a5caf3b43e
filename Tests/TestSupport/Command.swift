// SPDX-License-Identifier: BSD-3-Clause
public import Foundation
import Testing

/// What a process left behind.
public struct CommandResult: Sendable {
    /// The exit status, or 128 and the number of the signal that ended it.
    public let status: Int32
    /// What it wrote to standard output.
    public let output: String
    /// What it wrote to standard error.
    public let error: String
    /// Whether the exit status is 0.
    public var succeeded: Bool { status == 0 }
}

/// Runs a program to its end. Settings of the user do not reach it: `HOME` and `XDG_*` lead into `home`.
public func run(
    _ executable: String, _ arguments: [String] = [], home: TemporaryDirectory,
    environment: [String: String] = [:],
    in directory: String? = nil
) throws -> CommandResult {
    try start(executable, arguments, home: home, environment: environment, in: directory).wait()
}

/// Starts a program and returns at once.
public func start(
    _ executable: String, _ arguments: [String] = [], home: TemporaryDirectory,
    environment: [String: String] = [:],
    in directory: String? = nil
) throws -> RunningCommand {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: executable)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(
        [
            "HOME": home.path, "XDG_CONFIG_HOME": home("config"), "XDG_RUNTIME_DIR": home("runtime"),
            "XDG_CACHE_HOME": home("cache"), "XDG_STATE_HOME": home("state"), "SWIFT_BACKTRACE": "enable=no",
        ]
    ) { $1 }.merging(environment) { $1 }
    if let directory { process.currentDirectoryURL = URL(fileURLWithPath: directory) }
    return try RunningCommand(process)
}

/// A process that may still run.
public final class RunningCommand: Sendable {
    private let process: Process
    private let reader: DispatchGroup
    private let ended = DispatchGroup()
    private let captured = Locked<(output: Data, error: Data)>((Data(), Data()))

    /// Starts a process that is set up already, with the settings of the user perhaps.
    public init(_ process: Process) throws {
        self.process = process
        reader = DispatchGroup()
        let (output, error) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = error
        process.standardInput = FileHandle.nullDevice
        try withAllSignals { try Self.run(process, ended) }
        read(output) { $0.output += $1 }
        read(error) { $0.error += $1 }
    }

    /// Starts a process; again while its file is open for writing, which it may still be in a child of another test that
    /// has not executed its program yet.
    private static func run(_ process: Process, _ ended: DispatchGroup) throws {
        process.terminationHandler = { _ in ended.leave() }
        for attempt in 1... {
            ended.enter()
            do { return try process.run() } catch let error as NSError {
                ended.leave()
                let reason = error.userInfo[NSUnderlyingErrorKey] as? NSError
                guard reason?.code == Int(ETXTBSY), attempt < 200 else { throw error }
                usleep(10_000)
            }
        }
    }

    /// Reads to the end, on a thread of its own: several that wait would keep Dispatch from starting more for seconds.
    private func read(
        _ pipe: Pipe, _ append: @escaping @Sendable (inout (output: Data, error: Data), Data) -> Void
    ) {
        reader.enter()
        Thread.detachNewThread { [self] in
            for data in Self.data(from: pipe) { captured.withLock { append(&$0, data) } }
            try? pipe.fileHandleForReading.close()
            reader.leave()
        }
    }

    private static func data(from pipe: Pipe) -> some Sequence<Data> {
        sequence(state: pipe) { pipe in
            let data = pipe.fileHandleForReading.availableData
            return data.isEmpty ? nil : data
        }
    }

    /// Its process id.
    public var processID: Int32 { process.processIdentifier }
    /// Whether it has not ended.
    public var isRunning: Bool { process.isRunning }

    /// What it has written so far to standard output and to standard error.
    public var written: (output: String, error: String) {
        let (output, error) = captured.withLock { $0 }
        return (String(decoding: output, as: UTF8.self), String(decoding: error, as: UTF8.self))
    }

    /// Sends SIGKILL.
    public func kill() { Glibc.kill(process.processIdentifier, SIGKILL) }

    /// Stops it until ``resume()``; see ``TestSupport/pause(_:)``.
    public func pause() {
        let hasStopped = TestSupport.pause(processID)
        #expect(hasStopped)
    }

    /// Lets it go on.
    public func resume() { Glibc.kill(processID, SIGCONT) }

    /// Waits for the end.
    public func wait() -> CommandResult {
        // Foundation's own function asks all the time on another thread than the one that started it.
        ended.wait()
        reader.wait()
        let (output, error) = written
        return CommandResult(
            status: process.terminationReason == .exit
                ? process.terminationStatus : 128 + process.terminationStatus,
            output: output, error: error)
    }
}

/// Calls a function with no signal blocked. A process inherits the signals that the thread which starts it blocks, and
/// Dispatch's threads block nearly all; a program that waits for SIGCHLD, such as CMake, would wait for ever.
private func withAllSignals<Result>(_ body: () throws -> Result) rethrows -> Result {
    var none = sigset_t()
    var before = sigset_t()
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    return try body()
}

/// Stops a process until it gets SIGCONT, and waits until all its threads have stopped: a busy machine may let them run,
/// and answer, for a while after the signal.
///
/// - Returns: Whether they have.
public func pause(_ process: Int32) -> Bool {
    kill(process, SIGSTOP)
    return waitUntil { hasStopped(process) }
}

/// Whether all threads of a process have stopped.
public func hasStopped(_ process: Int32) -> Bool {
    let threads = "/proc/\(process)/task"
    // The letter for what a thread does stands after the name, which may contain anything; see proc(5).
    return (try? FileManager.default.contentsOfDirectory(atPath: threads))?.allSatisfy { thread in
        let line = (try? String(contentsOfFile: "\(threads)/\(thread)/stat", encoding: .utf8)) ?? ""
        return line.split(separator: ")").last?.hasPrefix(" T ") == true
    } == true
}

/// The targets of a process's open descriptors, such as `anon_inode:inotify`, without those that are closed meanwhile.
public func openFiles(of process: Int32) throws -> [String] {
    let descriptors = "/proc/\(process)/fd"
    return try FileManager.default.contentsOfDirectory(atPath: descriptors).compactMap {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "\(descriptors)/\($0)")
    }
}
