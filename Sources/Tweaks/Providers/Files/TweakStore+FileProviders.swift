internal import Glibc

extension TweakStore {
    /// Follows the files of a provider, if it has any, until it is removed. `TWEAKS_WATCH=0` in the environment turns it
    /// off.
    func followFiles(of feed: ProviderFeed) {
        guard !isSwitchedOff("TWEAKS_WATCH"), let provider = feed.provider as? any FileProvider else {
            return
        }
        let report = diagnostics.warn as @Sendable (String) -> Void
        let isWanted = { @Sendable [weak feed] in feed.map { !$0.isRemoved } ?? false }
        let reload = { @Sendable [weak provider] (path: String, isComplete: Bool) in
            guard let provider, isWanted() else { return }
            do { try provider.reload() } catch {
                // Somebody may be writing it.
                guard isComplete || access(path, F_OK) != 0 else { return }
                report("\(provider.source): \(error); its values stay as they are")
            }
        }
        for path in provider.files.map(absolutePath) {
            let hasThread = QuietThread.wait { thread in
                FileWatcher(path: path, worker: thread.worker, isWanted: isWanted, report: report) {
                    reload(path, $0)
                }
            }
            if !hasThread { report(FileWatcher.message(path, EAGAIN)) }
        }
    }
}

private func absolutePath(_ path: String) -> String {
    guard !path.hasPrefix("/"), let directory = getcwd(nil, 0) else { return path }
    defer { free(directory) }
    return String(cString: directory) + "/" + path
}
