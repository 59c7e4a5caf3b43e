// SPDX-License-Identifier: BSD-3-Clause
#if canImport(Logging)
public import Logging
#else
#error("Tweaks needs the trait Library, which is a default; with traits: [] there is only FBTweak")
#endif
internal import TweakOverrides
internal import TweakRecords

extension TweakStore {
    /// Creates a private store without tweaks, for tests or for values that are not the program's own.
    ///
    /// The store lives as long as it or a handle of one of its tweaks is held.
    ///
    /// - Parameters:
    ///   - overrides: Where overrides are kept. Overrides already in the file are applied.
    ///   - logger: The ``logger`` for messages; `nil` for standard error.
    public convenience init(overrides: Overrides = .none, logger: Logger? = nil) {
        self.init()
        if let logger { self.logger = logger }
        guard case .file(let path) = overrides else { return }
        keepOverrides(in: OverridesFile(path: path))
        flushAtExitOfProcess()
    }

    /// The logger for problems, such as a corrupt file or an override that a tweak refuses. Each message is
    /// logged once, by default to standard error.
    public var logger: Logger {
        get { diagnostics.logger }
        set { diagnostics.logger = newValue }
    }
}

extension Diagnostics {
    /// The program's logger, by default standard error; standard output belongs to the program.
    var logger: Logger {
        get {
            (state.withLock { $0.log } as? ProgramLog)?.logger
                ?? Logger(label: "tweaks") { _ in StandardErrorLog() }
        }
        set { state.withLock { $0.log = ProgramLog(newValue) } }
    }
}

/// A swift-log logger, used only after the program has set one.
private final class ProgramLog: MessageLog {
    let logger: Logger

    init(_ logger: Logger) { self.logger = logger }

    func debug(_ message: String) { logger.debug("\(message)") }
    func warn(_ message: String) { logger.warning("\(message)") }
}

/// Writes each message as one line to standard error.
private struct StandardErrorLog: LogHandler {
    var logLevel = Logger.Level.info
    var metadata = Logger.Metadata()
    var metadataProvider: Logger.MetadataProvider?

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let all = metadata.merging(metadataProvider?.get() ?? [:]) { $1 }.merging(event.metadata ?? [:]) {
            $1
        }
        let details = all.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value) " }.joined()
        StandardError.write(
            details.printable + event.message.description.printable, level: event.level.rawValue,
            from: event.source)
    }
}
