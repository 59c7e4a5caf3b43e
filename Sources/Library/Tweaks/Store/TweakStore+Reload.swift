// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc
internal import TweakOverrides
internal import TweakRecords

extension TweakStore {
    /// Applies changes that others make to the file from now on, unless `TWEAKS_WATCH=0` is in the environment.
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

    /// Reports that changes are no longer kept, if the process has become a user who cannot write the file.
    func reportLostOverrides() {
        if let file = writer?.file, let loss = lossOfOverrides(file) { diagnostics.warn(loss) }
    }

    /// - Returns: `nil` if the user is the same, or can write the file, too.
    private func lossOfOverrides(_ file: OverridesFile) -> String? {
        guard let user = ControlPlaces.own.newUser, let reason = file.obstacleToUpdates else { return nil }
        return """
            the process now runs as the user \(user), who cannot write \(file.path) (\(reason)): values read at the \
            start stay in effect, and values set from now on last for this run; point XDG_CONFIG_HOME to a directory of \
            that user
            """
    }

    /// Applies the overrides that differ from those in the file, as a ``set(_:for:)`` for each tweak but without
    /// writing anything. An unreadable file changes nothing.
    ///
    /// Own changes win over older ones: a change made before the file is read is in the file or still to be written,
    /// because no write of this process is in progress then, and later changes are noted. Both will be written and the
    /// file read again, so in the end the process has the values in the file.
    ///
    /// - Parameter isComplete: Whether to report invalid content; otherwise the file may be being written.
    func reload(_ file: OverridesFile, _ writer: OverridesWriter, isComplete: Bool) {
        state.withLock { $0.setWhileReloading = [] }
        defer { state.withLock { $0.setWhileReloading = nil } }
        let document: OverridesDocument
        var content: [UInt8]?
        let unwritten: Set<TweakKey>
        do throws(OverridesError) {
            let file = try writer.read()
            (content, unwritten) = (file.content, file.unwritten)
            document = try file.document.get()
        } catch {
            guard isComplete else { return }
            if let loss = lossOfOverrides(file) { return diagnostics.warn(loss) }
            // An error that was reported at the start is not repeated.
            return diagnostics.warn(
                "\(error); the values stay as they are", onceFor: error.identity(in: content))
        }

        let values = document.provided
        apply { state in
            // And tweaks that have been set since the file was read.
            let kept = unwritten.union(state.setWhileReloading ?? [])
            return ValueUpdate(
                of: .overrides, by: .file, replacing: state.layers[.overrides], with: values,
                except: kept.contains)
        }
    }
}

extension OverridesError {
    /// Tells apart the errors of different contents of a file.
    ///
    /// - Parameter content: The content; `nil` if it could not be read.
    func identity(in content: [UInt8]?) -> String {
        guard let content else { return "\(self)" }
        return "\(self) \(ByteText(String(decoding: content, as: UTF8.self))._rawHashValue(seed: 0))"
    }
}

/// Whether an environment variable is 0.
func isSwitchedOff(_ variable: String) -> Bool { getenv(variable).map { strcmp($0, "0") } == 0 }
