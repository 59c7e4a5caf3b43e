internal import CTweaks
internal import TweakOverrides
internal import TweakProtocol

extension TweakStore {
    /// Lets the user's programs see and change the tweaks from now on, unless `TWEAKS_CONTROL=0` is in the environment.
    func serveRequests() {
        guard !fbtweak__is_privileged(), !isSwitchedOff("TWEAKS_CONTROL"),
            let directory = ControlDirectory.ofUser
        else { return }
        serveRequests(in: directory)
    }

    /// - Parameter worker: What calls observers, if it is not the one that also takes over changes of files.
    func serveRequests(in directory: ControlDirectory, worker: SerialQueue? = nil) {
        _ = EventLoop.wait { Endpoint(of: self, in: directory, on: $0, worker: worker ?? $0.worker) }
    }

    /// Calls back when the overrides have been written, or will be in a moment, with the reason if that has failed.
    func afterWriting(_ body: @escaping @Sendable (OverridesError?) -> Void) {
        guard let writer else { return body(nil) }
        writer.afterAttempt(body)
    }
}
