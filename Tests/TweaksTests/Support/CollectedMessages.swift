// SPDX-License-Identifier: BSD-3-Clause
import Logging
import TestSupport

/// What a store says, instead of standard error.
final class CollectedMessages: Sendable {
    private let messages = Locked<[String]>([])

    var all: [String] { messages.withLock { $0 } }

    func add(_ message: String) { messages.withLock { $0.append(message) } }

    var logger: Logger { .calling { self.add($0) } }
}

extension Logger {
    /// Hands each message to a closure.
    static func calling(_ handle: @escaping @Sendable (String) -> Void) -> Logger {
        Logger(label: "test") { _ in CallingLogHandler(handle) }
    }
}

/// Hands each message to a closure.
struct CallingLogHandler: LogHandler {
    let handle: @Sendable (String) -> Void
    var logLevel = Logger.Level.trace
    var metadata = Logger.Metadata()

    init(_ handle: @escaping @Sendable (String) -> Void) { self.handle = handle }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { handle("\(event.message)") }
}

/// A list that callbacks of any thread append to.
final class Recorded<Element: Sendable>: Sendable {
    private let elements = Locked<[Element]>([])

    var all: [Element] { elements.withLock { $0 } }

    func append(_ element: Element) { elements.withLock { $0.append(element) } }
}
