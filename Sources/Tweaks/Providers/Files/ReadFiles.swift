/// What a provider has read from its files, and whom it tells when that has been read again.
final class ReadFiles<Content: Sendable>: Sendable {
    private struct State {
        var content: Content
        var report: (@Sendable (TweakProviderChange) -> Void)?
    }

    private let read: @Sendable () throws -> Content
    private let state: Guarded<State>

    /// - Parameter read: Reads them.
    init(_ read: @escaping @Sendable () throws -> Content) throws {
        self.read = read
        state = Guarded(State(content: try read()))
    }

    var content: Content { state.withLock { $0.content } }

    func reload() throws {
        // With the lock held, so that what is read last is there in the end.
        let report = try state.withLock { state in
            state.content = try read()
            return state.report
        }
        report?(.everything)
    }

    func onChange(_ report: (@Sendable (TweakProviderChange) -> Void)?) {
        state.withLock { $0.report = report }
    }
}
