internal import Logging
internal import TweakRecords

/// Tells a person what went wrong, each thing once.
///
/// What it says may hold names, values and paths of any origin, so it is escaped here, for whoever takes it.
final class Diagnostics: Sendable {
    struct State {
        var reported: Set<String> = []
        var logger: Logger?
    }
    let state = Guarded(State())

    /// Standard error unless the program sets another; standard output belongs to the program.
    var logger: Logger {
        get {
            state.withLock { state in
                if let logger = state.logger { return logger }
                let logger = Logger(label: "tweaks") { StreamLogHandler.standardError(label: $0) }
                state.logger = logger
                return logger
            }
        }
        set { state.withLock { $0.logger = newValue } }
    }

    /// Says something that is worth knowing only for who looks for it.
    func debug(_ message: String) { allowingForks { logger.debug("\(message.printable)") } }

    func warn(_ message: String) { warn(message, onceFor: message) }

    /// Says something that may have to be said again in the same words, once for each identity.
    func warn(_ message: String, onceFor identity: String) {
        guard state.withLock({ $0.reported.insert(identity).inserted }) else { return }
        allowingForks { logger.warning("\(message.printable)") }
    }
}
