// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import TweakClient
import TweakProtocol

#if UI
import HTTPTypes

/// Trials, and the history that a program keeps.
extension PageRequests {
    struct StreamRequest: Decodable {
        let stream: String
    }

    struct TrialRequest: Decodable {
        let program, stream: String
    }

    func keepTried(_ request: TrialRequest) async throws(RequestProblem) -> [UInt8] {
        guard let stream = try stream(request.stream) else { return Self.nothing }
        return try await ask(request.program) { session throws(Failure) in
            try await session.keepTried(by: stream)
        }
    }

    func discardTried(_ request: TrialRequest) async throws(RequestProblem) -> [UInt8] {
        guard let stream = try stream(request.stream) else { return Self.nothing }
        return try await ask(request.program) { session throws(Failure) in
            try await session.discardTried(by: stream)
        }
    }

    /// Notes that a page is still there, see ``Trial/patience``.
    func pong(_ request: StreamRequest) throws(RequestProblem) -> [UInt8] {
        if let stream = try stream(request.stream) { board.hear(stream) }
        return Self.nothing
    }

    struct HistoryRequest: Decodable {
        let program: String
        let since, limit: Int?
    }

    func history(_ request: HistoryRequest) async throws(RequestProblem) -> [UInt8] {
        try await askProgram(request.program, ListHistory(since: request.since, limit: request.limit))
    }

    struct UndoRequest: Decodable {
        let program: String
        let number: Int
    }

    func undo(_ request: UndoRequest) async throws(RequestProblem) -> [UInt8] {
        try await askProgram(request.program, UndoChanges(number: request.number))
    }

    struct MarkRequest: Decodable {
        let program: String
        let name: String?
    }

    func revert(_ request: MarkRequest) async throws(RequestProblem) -> [UInt8] {
        try await askProgram(request.program, RevertChanges(mark: request.name))
    }

    func mark(_ request: MarkRequest) async throws(RequestProblem) -> [UInt8] {
        guard let name = request.name else { throw RequestProblem(.badRequest, "a mark has a name") }
        return try await askProgram(request.program, MarkHistory(name: name))
    }

    private func askProgram<Method: ControlMethod>(
        _ id: String, _ method: Method
    ) async throws(RequestProblem) -> [UInt8] where Method.Answer: Encodable {
        try await ask(id) { session throws(Failure) in
            try await session.with { program throws(Failure) in
                guard let program = program as? LiveProgram else {
                    throw Failure(
                        "\(id): only a program that runs with the Tweaks library has a history", .invalid)
                }
                return try program.ask(method)
            }
        }
    }
}
#endif
