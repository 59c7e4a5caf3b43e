// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import RemoteValues
import TestSupport
import Testing
import TweakJSON
import TweakOverrides
import TweakRecords

/// A source that gives one answer after the other, and the last one for ever.
private final class Answers: RemoteOrigin, OriginSettings {
    typealias Answer = Result<Int, FetchProblem>

    let (name, provider, kind, server) = ("search", TweakSource.remote, "list", "list")
    let version: String? = nil
    let schedule = CheckSchedule(interval: .milliseconds(1))
    static let key = TweakKey("A", "B", "C")
    private let answers: Locked<[Answer]>

    init(_ answers: [Answer]) { self.answers = Locked(answers) }

    func origin(sharing resources: SharedResources) -> any RemoteOrigin { self }

    func read(_ updates: RemoteUpdates) async throws(FetchProblem) {
        let answer = answers.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
        let value = TweakValue.integer(Int128(try answer.get()))
        updates.update { state in
            let isNew = state.file.values[Self.key]?.tweakValue != value
            state.file.values.set(value, for: Self.key)
            state.succeed(isNew: isNew)
        }
    }
}

/// A source whose server accepts connections and never answers.
private final class Silence: RemoteOrigin, OriginSettings {
    let (name, provider, kind, server) = ("silent", TweakSource.remote, "silence", "silence")
    let version: String? = nil
    let schedule = CheckSchedule(interval: .seconds(1))

    func origin(sharing resources: SharedResources) -> any RemoteOrigin { self }

    func read(_ updates: RemoteUpdates) async throws(FetchProblem) {
        try? await Task.sleep(for: .seconds(3600))
        throw FetchProblem(message: "cancelled")
    }
}

/// A source that is woken while it reads, as by an event, and reads again only if it is.
private final class Woken: RemoteOrigin, OriginSettings {
    let (name, provider, kind, server) = ("woken", TweakSource.remote, "events", "events")
    let version: String? = nil
    let schedule = CheckSchedule(interval: .seconds(3600))
    let reads = Locked(0)

    func origin(sharing resources: SharedResources) -> any RemoteOrigin { self }

    func read(_ updates: RemoteUpdates) async throws(FetchProblem) {
        let count = reads.withLock { reads in
            reads += 1
            return reads
        }
        if count < 100 { updates.wake() }
        updates.update { $0.succeed(isNew: true) }
    }
}

@Suite struct `A source of remote values` {
    private let away = FetchProblem(message: "it is away", retryWithin: .milliseconds(1))

    /// Follows until `isEnough`, and returns what programs were told and what a person was told.
    private func follow(
        _ answers: [Answers.Answer], from last: ProvidedFile? = nil, isOnce: Bool = false,
        until isEnough: @escaping @Sendable (RemoteFollower.Report) -> Bool = { _ in true }
    ) async throws -> (told: [ProvidedFile], said: [String], last: RemoteFollower.Report) {
        let (told, said) = (Locked<[ProvidedFile]>([]), Locked<[String]>([]))
        let (ends, end) = AsyncStream.makeStream(of: RemoteFollower.Report.self)
        let follower = try RemoteFollower(Answers(answers))
        let following = Task {
            await follower.follow(from: last, isOnce: isOnce) { (file) throws(OverridesError) in
                told.withLock { $0.append(file) }
            } report: { report in
                said.withLock { $0 += report.messages }
                if isEnough(report) { end.yield(report) }
            }
        }
        var reports = ends.makeAsyncIterator()
        let last = try #require(await reports.next())
        following.cancel()
        await following.value
        return (told.withLock { $0 }, said.withLock { $0 }, last)
    }

    private func values(_ files: [ProvidedFile]) -> [TweakValue?] {
        files.map { $0.values[Answers.key]?.tweakValue }
    }

    @Test func `is polled, and reports new values`() async throws {
        let result = try await follow([.success(1), .success(1), .success(2)]) {
            $0.file.values[Answers.key]?.tweakValue == 2
        }
        // What comes while the file is written is written together.
        #expect([[1, 2], [2]].contains(values(result.told)))
        #expect(result.last.outcome == .loaded)
        #expect(result.said.isEmpty)
    }

    @Test func `keeps its values after a failure, and reports failure and recovery once`()
        async throws
    {
        let result = try await follow([.success(1), .failure(away), .failure(away), .success(1)]) {
            $0.messages.contains { $0.hasPrefix("loaded again, after failures since ") }
        }
        #expect(values(result.told).allSatisfy { $0 == 1 })
        #expect(result.said.count == 2)
        #expect(result.said.first?.hasPrefix("it is away; the values loaded at ") == true)
        #expect(result.last.file.problem == nil)
    }

    @Test func `does not wait for silent servers of other sources`() async throws {
        let silent = try (0..<1000).map { _ in try RemoteFollower(Silence()) }
        let (reports, reported) = AsyncStream.makeStream(of: RemoteFollower.Report.self)
        let following = RemoteFollowing(
            silent + [try RemoteFollower(Answers([.success(1)]))], sharing: SharedResources(), isOnce: false,
            from: { _ in nil }, keep: { $0.map { _ in nil } }, report: { reported.yield($0) })
        let task = Task { await following.follow() }
        var all = reports.makeAsyncIterator()
        #expect(await all.next()?.application == "search")
        task.cancel()
        await task.value
    }

    @Test func `that is woken during a read reads again`() async throws {
        let source = Woken()
        let follower = try RemoteFollower(source)
        let task = Task { await follower.follow(from: nil, keep: { _ in }, report: { _ in }) }
        while source.reads.withLock({ $0 }) < 100 { try await Task.sleep(for: .milliseconds(3)) }
        task.cancel()
        await task.value
        #expect(source.reads.withLock { $0 } == 100)
    }

    @Test func `that is read once ends with its failure, which the next follower does not repeat`()
        async throws
    {
        let first = try await follow([.failure(away)], isOnce: true)
        #expect(first.last.outcome == .failed)
        #expect(first.said == ["it is away; nothing was loaded before"])
        let second = try await follow([.failure(away)], from: first.told.last, isOnce: true)
        #expect(second.last.file.problem?.hasPrefix("it is away since ") == true)
        #expect(second.said.isEmpty)
    }
}
#endif
