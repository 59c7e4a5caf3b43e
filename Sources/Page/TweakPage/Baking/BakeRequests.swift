// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Glibc
import TweakRecords

#if UI
import HTTPTypes

/// Requests that make values the defaults in sources, which `tweak bake` carries out.
///
/// A page names a program and tweaks, never a file or a folder, and confirms the difference that it has shown.
extension PageRequests {
    struct BakePlanRequest: Decodable {
        let program: String
        /// All tweaks with other values than their defaults if it is missing.
        let tweaks: [TweakKey]?
    }

    private struct BakePlanForm: Encodable {
        /// The plan's name, which the page sends to confirm it; `nil` if it cannot be written from here.
        let plan: String?
        /// The folder below which sources may be written.
        let folder: String?
        let difference: String
        /// The tweaks that stay, with places and reasons, and warnings.
        let messages: String
        let command: String
    }

    func planBaking(_ request: BakePlanRequest) async throws(RequestProblem) -> [UInt8] {
        let entry = try entry(request.program)
        let plan = try await reporting { [bake] () async throws(Failure) in
            try await waitingOnThread { () throws(Failure) in try bake.plan(entry, request.tweaks ?? []) }
        }
        let answer = plan.answer
        // Tweaks that stay are no failure.
        guard answer.status == 0 || answer.status == EX_DATAERR else {
            throw RequestProblem(answer, of: "tweak bake")
        }
        let isWritable = bake.folder != nil && !answer.output.isEmpty
        return try json(
            BakePlanForm(
                plan: isWritable ? bakePlans.add(plan, for: entry.id) : nil, folder: bake.folder,
                difference: String(decoding: answer.output, as: UTF8.self), messages: answer.messages,
                command: plan.command))
    }

    struct BakeRequest: Decodable {
        let program, plan: String
    }

    func writeBaked(_ request: BakeRequest) async throws(RequestProblem) -> [UInt8] {
        guard let folder = bake.folder else {
            throw RequestProblem(
                .forbidden, "tweak ui was started without --sources, so it writes no sources")
        }
        let id = try entry(request.program).id
        // The values that were baked wait for a build, which each page shows.
        defer { board.tellOfTweaks(id) }
        guard let plan = bakePlans.take(request.plan, for: id) else {
            throw RequestProblem(.conflict, "the diff has changed since it was shown; review it again")
        }
        let answer = try await reporting { [bake] () async throws(Failure) in
            try await waitingOnThread { () throws(Failure) in try bake.write(plan, below: folder) }
        }
        // It prints what it has written, also if it then fails.
        guard !answer.output.isEmpty else { throw RequestProblem(answer, of: "tweak bake") }
        return try json(CommandForm(answer.output, messages: answer.sentences, of: "tweak bake"))
    }
}
#endif
