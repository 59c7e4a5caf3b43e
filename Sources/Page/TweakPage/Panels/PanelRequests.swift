// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import TweakJSON

#if UI
import HTTPTypes

/// Requests for the panels of a program.
extension PageRequests {
    struct PanelRequest: Decodable {
        let program: String
        let name: String?
        let place: PanelFolders.Place?
        let content: JSONValue?
        /// Whether the user wants to replace a panel of this name.
        let replace: Bool?
    }

    func panels(_ request: PanelRequest) async throws(RequestProblem) -> [UInt8] {
        try await withPanels(request) { panels throws(Failure) in ["panels": panels.all] }
    }

    func savePanel(_ request: PanelRequest) async throws(RequestProblem) -> [UInt8] {
        guard let name = request.name, let content = request.content else {
            throw RequestProblem(.badRequest, "a panel has a name and a content")
        }
        return try await withPanels(request) { panels throws(Failure) in
            try panels.save(content, as: name, in: request.place ?? .user, replacing: request.replace == true)
            return ["panels": panels.all]
        }
    }

    func deletePanel(_ request: PanelRequest) async throws(RequestProblem) -> [UInt8] {
        guard let name = request.name else { throw RequestProblem(.badRequest, "a panel has a name") }
        return try await withPanels(request) { panels throws(Failure) in
            try panels.remove(name, request.place ?? .user)
            return ["panels": panels.all]
        }
    }

    private func withPanels<Answer: Encodable & Sendable>(
        _ request: PanelRequest, _ body: @escaping @Sendable (PanelFolders) throws(Failure) -> Answer
    ) async throws(RequestProblem) -> [UInt8] {
        try await ask(request.program) { [sources = bake.folder] session throws(Failure) in
            try await session.with { program throws(Failure) in
                try body(PanelFolders(of: program, sources: sources))
            }
        }
    }
}
#endif
