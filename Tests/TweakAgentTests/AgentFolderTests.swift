// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import RemoteValues
import TestSupport
import Testing
import TweakOverrides

@Suite struct `The folder of an agent` {
    @Test func `in which another agent writes is refused, and no descriptor of others is closed`() throws {
        let home = try TemporaryDirectory()
        let path = home("provided")
        let first = try AgentFolder(path)
        #expect(throws: OverridesError.self) { _ = try AgentFolder(path) }
        #expect(strayCloses(whileRepeating: 20_000) { _ = try? AgentFolder(path) } == 0)
        withExtendedLifetime(first) {}
    }
}
#endif
