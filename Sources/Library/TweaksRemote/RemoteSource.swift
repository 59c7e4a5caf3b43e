// SPDX-License-Identifier: BSD-3-Clause
#if Remote
internal import RemoteValues
internal import Synchronization
internal import TweakJSON
internal import TweakOverrides
internal import TweakSystem
internal import TweakTargeting
public import Tweaks

/// A provider of values from a web server, for a process without an agent on its host.
///
///     let source = try RemoteSource(application: "search", url: "https://features.example.org/search/")
///     try TweakStore.shared.add(source, below: .overrides)
///     await source.run()
///
/// It loads, verifies and targets values as `tweak-agent` does;
/// ``sources(listedIn:application:keptIn:said:)`` creates the agent's other sources, etcd and OFREP, too.
/// Where an agent runs, this is not needed: the library follows the agent's files.
public final class RemoteSource: TweakProvider {
    private struct State {
        var file = ProvidedFile()
        var report: (@Sendable (TweakProviderChange) -> Void)?
    }

    /// The source's name: `http`, `ofrep`, `etcd`, or the given one.
    public let source: TweakSource
    private let follower: RemoteFollower
    private let path: String?
    private let said: @Sendable (String) -> Void
    private let state = Mutex(State())

    /// An error in the configuration of a source.
    public struct Problem: Error, CustomStringConvertible {
        /// The problem, and what is allowed.
        public let description: String
    }

    /// Creates a source. It loads nothing until ``run()`` is called.
    ///
    /// - Parameters:
    ///   - name: The source's name.
    ///   - application: The name of the application, for targeting features.
    ///   - version: The version of the application, for targeting features.
    ///   - url: The `https://` address of a folder with `features.json`, of a file ending in `.json`, or,
    ///     with a query, of any file. Messages do not show the query.
    ///   - interval: The time between checks, at least a second; it varies by up to a tenth.
    ///   - certificates: A PEM file of certificates to trust instead of the system's.
    ///   - publicKey: The key that the file must be signed with, as printed by `tweak sign --new-key`.
    ///   - path: A file that caches the values for the next start.
    ///   - said: Called with messages for people, each once.
    /// - Throws: ``Problem`` if the address, the public key or the certificates cannot be used.
    public convenience init(
        name: String = "http", application: String, version: String? = nil, url: String,
        interval: Duration = .seconds(60), certificates: String? = nil, publicKey: String? = nil,
        keptIn path: String? = nil, said: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(Problem) {
        guard let address = RemoteURL(url), !address.isPlain else {
            throw Problem(
                description:
                    "\(RemoteURL.shown(url)): \"https://\", a host and a path are expected, without a user's name and "
                    + "a fragment")
        }
        var settings = WebSettings(name: application, url: address)
        settings.version = version
        settings.interval = max(interval, .seconds(1))
        settings.certificates = certificates
        if let publicKey {
            guard let key = PublicKey(text: publicKey) else {
                throw Problem(description: "\(publicKey): 32 bytes in Base64 are expected")
            }
            settings.publicKey = key
        }
        try self.init(name, settings, path, said)
    }

    private init(
        _ name: String, _ settings: any OriginSettings, _ path: String?,
        _ said: @escaping @Sendable (String) -> Void
    ) throws(Problem) {
        do throws(FetchProblem) { follower = try RemoteFollower(settings) } catch {
            throw Problem(description: error.message)
        }
        (source, self.path, self.said) = (TweakSource(name), path, said)
        guard let path else { return }
        do throws(OverridesError) {
            if let bytes = try KeptFile(path: path).read() {
                let last = try ProvidedFile(json: bytes, path: path)
                state.withLock { $0.file = last }
            }
        } catch {
            said("\(error)")
        }
    }

    /// Creates the sources that a configuration of `tweak-agent` lists for an application. They load nothing
    /// until each one's ``run()`` is called.
    ///
    /// - Parameters:
    ///   - configuration: The path of the file, in the format of tweak-agent(1).
    ///   - application: The application in the file.
    ///   - folder: The directory in which `http.json`, `ofrep.json` and `etcd.json` cache the values for the
    ///     next start.
    ///   - said: Called with messages for people, each once.
    /// - Returns: At most two sources: `http` or `ofrep`, which takes precedence, and `etcd`.
    /// - Throws: ``Problem`` if the file cannot be read or is malformed, does not list the application, or a
    ///   source cannot be created.
    public static func sources(
        listedIn configuration: String, application: String, keptIn folder: String? = nil,
        said: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(Problem) -> [RemoteSource] {
        let listed: AgentConfiguration
        do {
            guard let bytes = try KeptFile(path: configuration).read() else {
                throw Problem(description: "\(configuration): no such file")
            }
            listed = try AgentConfiguration(json: bytes, path: configuration)
        } catch {
            throw Problem(description: "\(error)")
        }
        let sources = try listed.origins.filter { $0.name == application }.map {
            (settings) throws(Problem) in
            try RemoteSource(
                settings.kind, settings, folder.map { "\($0)/\(settings.kind).json" }, said)
        }
        guard !sources.isEmpty else {
            throw Problem(description: "\(configuration): there is no application \"\(application)\"")
        }
        return sources
    }

    /// Loads values, and follows their changes, until the task is cancelled.
    public func run() async {
        let last = state.withLock { $0.file }
        await follower.follow(from: last, keep: take) { [said] report in
            for message in report.messages { said(message) }
        }
    }

    @Sendable private func take(_ file: ProvidedFile) throws(OverridesError) {
        let report = state.withLock { state in
            state.file = file
            return state.report
        }
        if let problem = file.problem {
            report?(.everything)
            report?(.failed(problem))
        } else {
            report?(.loaded)
        }
        if let path { try file.write(to: path) }
    }

    /// The names of all tweaks with values.
    public var keys: Set<TweakKey> {
        let file = state.withLock { $0.file }
        return Set(file.values.keys).union(file.kills.keys)
    }

    /// Returns the loaded value of a tweak.
    public func value(for key: TweakKey) -> ProvidedValue? {
        let file = state.withLock { $0.file }
        // A kill has the precedence of this source here.
        guard let value = file.kills[key] ?? file.values.values[key] else { return nil }
        return value.tweakValue.map { .value($0) } ?? .unusable(value.summary)
    }

    /// Sets the handler to call when new values have been loaded.
    public func onChange(_ report: (@Sendable (TweakProviderChange) -> Void)?) {
        state.withLock { $0.report = report }
    }
}
#endif
