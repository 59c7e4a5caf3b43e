internal import Glibc
internal import TweakOverrides
internal import TweakRecords

extension TweakStore {
    /// Takes over what others write into the file from now on, unless `TWEAKS_WATCH=0` is in the environment.
    func followOverrides(in file: OverridesFile) {
        guard let writer, !isSwitchedOff("TWEAKS_WATCH") else { return }
        let report = { @Sendable (message: String) in
            self.diagnostics.warn(self.lossOfOverrides(file) ?? message)
        }
        FileWatcher.follow(
            FileWatcher.File(path: file.path, report: report) { isComplete in
                self.reload(file, writer, isComplete: isComplete)
            })
    }

    /// Says that what is set from now on is not kept, if the process has become a user who cannot do that.
    func reportLostOverrides() {
        if let file = writer?.file, let loss = lossOfOverrides(file) { diagnostics.warn(loss) }
    }

    /// - Returns: `nil` if the process is the user that it was, or one that can keep its overrides too.
    private func lossOfOverrides(_ file: OverridesFile) -> String? {
        guard let user = ControlPlaces.own.newUser, let reason = file.obstacleToUpdates else { return nil }
        return """
            the process has become the user \(user), who cannot keep what is set in \(file.path) (\(reason)): what was \
            read there at the start holds, and what is set from now on is for this run; let XDG_CONFIG_HOME lead to a \
            directory of that user
            """
    }

    /// Gives the tweaks whose overrides differ from those in the file their new values, as one ``set(_:for:)`` each
    /// but with nothing to write. What cannot be read changes nothing.
    ///
    /// Own changes win over what is older: whatever was set before the file is read is in it or still to be written,
    /// since no write of this process is under way then, and what is set afterwards is noted. Both will be written and
    /// the file read again, so in the end the process has what the file holds.
    ///
    /// - Parameter isComplete: Whether to say what is wrong with the content; otherwise somebody may be writing it.
    func reload(_ file: OverridesFile, _ writer: OverridesWriter, isComplete: Bool) {
        state.withLock { $0.setWhileReloading = [] }
        defer { state.withLock { $0.setWhileReloading = nil } }
        var document = OverridesDocument()
        var content: [UInt8]?
        let unwritten: Set<TweakKey>
        do throws(OverridesError) {
            (content, unwritten) = try writer.read()
            if let content { document = try OverridesDocument(json: content, path: file.path) }
        } catch {
            guard isComplete else { return }
            if let loss = lossOfOverrides(file) { return diagnostics.warn(loss) }
            // What could not be read at the start is not said again.
            return diagnostics.warn(
                "\(error); the values stay as they are",
                onceFor: content.map { "\(error) \($0.hashValue)" } ?? "\(error)")
        }

        let values = document.provided
        apply { state in
            // Those that have been set since the file was read too.
            let kept = unwritten.union(state.setWhileReloading ?? [])
            return ValueUpdate(
                of: .overrides, replacing: state.layers[.overrides], with: values, except: kept.contains)
        }
    }
}

/// Whether a variable of the environment is 0.
func isSwitchedOff(_ variable: String) -> Bool { getenv(variable).map { strcmp($0, "0") } == 0 }
