// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import CommandSupport
import Dispatch
import Glibc
import RemoteValues
import Synchronization
import TweakFleet
import TweakOverrides
import TweakRecords
import TweakSystem

extension Follow {
    /// Follows until a signal ends it.
    func perform() throws(Failure) {
        let (signals, continuation) = AsyncStream.makeStream(of: CInt.self)
        let (isOnce, end) = (once, DispatchSemaphore(value: 0))
        // First, because systemd or a script may request a reload right after the start.
        let sources = [SIGINT, SIGTERM, SIGHUP].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                continuation.yield(number)
                guard number != SIGHUP else { return }
                // The agent may end at any moment, as by SIGKILL, because files are replaced atomically.
                DispatchQueue.global().asyncAfter(deadline: .now() + Self.patienceAtEnd) { end.signal() }
            }
            source.resume()
            return source
        }
        let path = try agentConfiguration(configurationPath)
        let configuration = try Self.read(path)
        guard let place = folder ?? AgentFolder.usual else {
            throw Failure("neither STATE_DIRECTORY nor HOME is set; give the folder with --folder", .usage)
        }
        let opened: AgentFolder
        do throws(OverridesError) { opened = try AgentFolder(place) } catch {
            let isTaken = if case .system(action: "lock", _, _) = error { true } else { false }
            throw Failure("\(error)", isTaken ? .busy : .cannotCreate)
        }
        Self.raiseFileLimit()
        let programs = programMetrics.map { ProgramMetrics(path: $0) }
        let agent = Agent(
            folder: opened, isOnce: once, metrics: metrics.map { AgentMetrics(path: $0) }, programs: programs)
        programs?.keep(only: configuration.origins.map(\.name))
        if !once { try programs?.start() }
        Task {
            if isOnce {
                let following = Task { await agent.follow(configuration) }
                let watching = Task {
                    for await number in signals where number != SIGHUP { following.cancel() }
                }
                await following.value
                watching.cancel()
            } else {
                await Self.follow(configuration, path, agent, signals)
            }
            end.signal()
        }
        withExtendedLifetime(sources) { end.wait() }
        if once, let problem = agent.problem { throw problem }
    }

    /// Raises the limit of open files: each application has a watch in etcd, and the usual limit is 1,024.
    private static func raiseFileLimit() {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(resource, &limit)
    }

    /// The time within which a signal ends the agent, whatever it is doing.
    private static let patienceAtEnd: DispatchTimeInterval = .milliseconds(700)

    /// Follows one configuration after the other.
    private static func follow(
        _ configuration: AgentConfiguration, _ path: String, _ agent: Agent, _ signals: AsyncStream<CInt>
    ) async {
        var following = Task { [configuration] in await agent.follow(configuration) }
        for await number in signals {
            var next: AgentConfiguration?
            if number == SIGHUP {
                do throws(Failure) { next = try read(path) } catch {
                    printMessage(
                        "\(error.message); the previous configuration stays in effect", of: "tweak-agent")
                    continue
                }
            }
            following.cancel()
            await following.value
            guard let next else { return }
            printMessage("the configuration was reloaded", of: "tweak-agent")
            following = Task { await agent.follow(next) }
        }
    }

    private static func read(_ path: String) throws(Failure) -> AgentConfiguration {
        let bytes = try readInput(path, isNamed: false)
        do { return try AgentConfiguration(json: bytes, path: path) } catch {
            throw Failure("\(error)", .misconfigured)
        }
    }
}

/// Follows all applications concurrently.
final class Agent: Sendable {
    private let folder: AgentFolder
    private let isOnce: Bool
    private let metrics: AgentMetrics?
    private let programs: ProgramMetrics?
    private let state = Mutex<(problem: Failure?, isMetricsProblemSaid: Bool)>((nil, false))
    /// Reports the followed applications to etcd.
    private let reporter = Mutex<HostReporter?>(nil)

    init(folder: AgentFolder, isOnce: Bool, metrics: AgentMetrics?, programs: ProgramMetrics?) {
        (self.folder, self.isOnce, self.metrics, self.programs) = (folder, isOnce, metrics, programs)
    }

    /// The first failure, with which a single check ends.
    var problem: Failure? { state.withLock { $0.problem } }

    /// Follows until the task is cancelled, or each application has been checked once.
    func follow(_ configuration: AgentConfiguration) async {
        let origins = configuration.origins
        metrics?.keep(only: origins.map(\.name))
        programs?.keep(only: origins.map(\.name))
        for provider in [TweakSource.remote, .fleet] {
            let names = origins.filter { $0.provider == provider }.map(\.name)
            for (name, message) in folder.removeAll(from: provider, except: names) { say(message, of: name) }
        }
        let resources = SharedResources(etcdApplications: configuration.fleet.count)
        let followers = origins.compactMap { (settings) -> RemoteFollower? in
            do throws(FetchProblem) { return try RemoteFollower(settings, sharing: resources) } catch {
                say(error.message, of: settings.name)
                note(Failure("\(settings.name): it cannot be loaded", .misconfigured))
                return nil
            }
        }
        let reporter = isOnce ? nil : reporter(configuration.fleet, resources)
        self.reporter.withLock { $0 = reporter }
        let publisher = BuildPublisher(
            configuration.fleet, resources, note: { reporter?.note($0, of: $1) },
            notePublished: { reporter?.note(published: $0, of: $1) },
            say: { [self] in say($0, of: $1) })
        let publishing = Task { await publisher.publish(isOnce: isOnce) }
        let rollouts = RolloutAgent(configuration.fleet, resources) { [self] in say($0, of: $1) }
        let rollingOut = isOnce ? nil : Task { await rollouts.run() }
        let reporting = Task {
            guard let reporter else { return }
            async let counting: Void = ProcessCount(configuration.fleet).count(for: reporter)
            await reporter.run()
            await counting
        }
        await RemoteFollowing(
            followers, sharing: resources, isOnce: isOnce, from: last, keep: folder.write, report: report
        ).follow()
        if !isOnce { publishing.cancel() }
        rollingOut?.cancel()
        reporting.cancel()
        await reporting.value
        await publishing.value
        await rollingOut?.value
        await resources.end()
        metrics?.write(noteMetrics)
        if isOnce { programs?.write() }
    }

    private func reporter(_ fleet: [EtcdSettings], _ resources: SharedResources) -> HostReporter? {
        do throws(FetchProblem) {
            return try HostReporter(fleet, agent: libraryVersion, sharing: resources) { [self] in
                say($0, of: $1)
            }
        } catch {
            printMessage("the state of this host is not reported: \(error.message)", of: "tweak-agent")
            return nil
        }
    }

    private func last(_ settings: any OriginSettings) -> ProvidedFile? {
        do throws(OverridesError) { return try folder.last(settings.name, from: settings.provider) } catch {
            say("\(error)", of: settings.name)
            return nil
        }
    }

    private func report(_ report: RemoteFollower.Report) {
        folder.noteCheck(of: report.application, at: report.provider)
        reporter.withLock { $0 }?.note(report)
        for message in report.messages { say(message, of: report.application) }
        if report.notKept != nil {
            note(Failure("\(report.application): its file could not be written", .inputOutput))
        } else if report.outcome == .failed {
            note(Failure("\(report.application): it could not be loaded", .busy))
        }
        if let metrics, metrics.note(report) { Task { await metrics.keepWriting(noteMetrics) } }
    }

    private func noteMetrics(_ problem: OverridesError?) {
        let wasSaid = state.withLock { state in
            defer { state.isMetricsProblemSaid = problem != nil }
            return state.isMetricsProblemSaid
        }
        if let problem, !wasSaid { printMessage("\(problem)", of: "tweak-agent") }
    }

    private func note(_ failure: Failure) {
        state.withLock { state in state.problem = state.problem ?? failure }
    }

    private func say(_ message: String, of application: String) {
        printMessage("\(application): \(message)", of: "tweak-agent")
    }
}
#endif
