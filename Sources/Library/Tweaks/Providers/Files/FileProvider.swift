// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc
internal import TweakOverrides
internal import TweakRecords

/// A built-in provider that reads files. Its store reloads it when they change.
protocol FileProvider: TweakProvider {
    /// The paths of the files to follow.
    var files: [String] { get }
    /// The paths of the files that the values come from.
    var origins: [String] { get }
    /// Everything that the provider has read, so that the store need not query each tweak.
    var tweaks: ReadTweaks { get }

    /// Reads the files again. If that fails, nothing changes.
    func reload() throws(ProviderFailure)
}

extension FileProvider {
    var origins: [String] { files }
}

/// The values that a provider has read.
struct ReadTweaks {
    var values: [TweakKey: ProvidedValue]
    /// The errors of tweaks that should have values and have none.
    var failures: [TweakKey: ProviderFailure] = [:]
    /// The tweaks whose values are encrypted in the files.
    var secrets: Set<TweakKey> = []
    /// Returns declarations as ``TweakProvider/declaration(of:)`` does. It is called with the store's lock
    /// held and runs only the library's code.
    var declaration: @Sendable (TweakKey) -> TweakDeclaration? = { _ in nil }
}

/// An error in reading a file of values.
public struct ProviderFileError: Error, Hashable, CustomStringConvertible {
    /// The file and the reason.
    public let description: String
}

/// Reads a provider's file of at most 16 MiB.
///
/// - Throws: ``ProviderFileError``.
func providerFile(_ path: String) throws(ProviderFailure) -> [UInt8] {
    let content: [UInt8]?
    do throws(OverridesError) { content = try OverridesFile(path: path).read() } catch {
        throw providerFailure(ProviderFileError(description: "\(error)"))
    }
    guard let content else {
        throw providerFailure(
            ProviderFileError(description: "cannot read \(path): no such file"))
    }
    return content
}

/// The content of a provider's files, and the handler to call when they have been read again.
final class ReadFiles<Content: Sendable>: Sendable {
    private struct State {
        var content: Content
        var report: (@Sendable (TweakProviderChange) -> Void)?
    }

    private let read: @Sendable () throws(ProviderFailure) -> Content
    private let state: Guarded<State>

    /// - Parameter read: Reads the files.
    init(_ read: @escaping @Sendable () throws(ProviderFailure) -> Content) throws(ProviderFailure) {
        self.read = read
        state = Guarded(State(content: try read()))
    }

    var content: Content { state.withLock { $0.content } }

    /// Reports that everything may have changed.
    func reportAll() { state.withLock { $0.report }?(.everything) }

    func reload() throws(ProviderFailure) {
        // With the lock held, so that the last content read wins.
        let report = try state.withLock { (state) throws(ProviderFailure) in
            state.content = try read()
            return state.report
        }
        report?(.everything)
    }

    func onChange(_ report: (@Sendable (TweakProviderChange) -> Void)?) {
        state.withLock { $0.report = report }
    }
}

// MARK: - Following files

extension TweakStore {
    /// Follows the files of a provider, if it has any, until it is removed. `TWEAKS_WATCH=0` in the
    /// environment turns this off.
    func followFiles(of feed: ProviderFeed) {
        guard !isSwitchedOff("TWEAKS_WATCH"), let files = feed.fileProvider?.files else { return }
        let report = diagnostics.warn as @Sendable (String) -> Void
        let weakFeed = WeakReference(feed)
        let isWanted = { @Sendable in weakFeed.object.map { !$0.isRemoved } ?? false }
        let reload = { @Sendable (path: String, isComplete: Bool) in
            guard let feed = weakFeed.object, !feed.isRemoved, let provider = feed.fileProvider else {
                return
            }
            do throws(ProviderFailure) { try provider.reload() } catch {
                // The file may be being written.
                guard isComplete || access(path, F_OK) != 0 else { return }
                report("\(provider.source): \(error); its values stay as they are")
                feed.report(.failed("\(error)"))
            }
        }
        for path in files.map(absolutePath) {
            FileWatcher.follow(
                FileWatcher.File(path: path, isWanted: isWanted, report: report) { reload(path, $0) })
        }
    }
}

private func absolutePath(_ path: String) -> String {
    guard path.utf8.first != UInt8(ascii: "/"), let directory = getcwd(nil, 0) else { return path }
    defer { free(directory) }
    return String(cString: directory) + "/" + path
}
