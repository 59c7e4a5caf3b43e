// SPDX-License-Identifier: BSD-3-Clause
#if Remote
internal import Crypto
package import TweakJSON
internal import TweakRecords
package import TweakTargeting

/// The settings of a request to an OFREP service.
package struct FlagEvaluation: Hashable, Sendable {
    /// The configured context in addition to the known facts about this host; null removes a fact.
    package var context: JSONObject = [:]
    /// A file with the service's bearer token, read for each request so that it can be replaced.
    package var tokenFile: String?
    /// The mapping of flags to tweaks.
    package var names = FlagNames()

    /// The path of the bulk evaluation, below the base URL.
    package static let path = "/ofrep/v1/evaluate/flags"

    package init() {}

    /// The body of a request.
    package func body(for facts: HostFacts) -> [UInt8] {
        var context: JSONObject = [:]
        let known: [(String, Fact)] = [
            ("os", .os), ("osVersion", .osVersion), ("kernel", .kernel), ("architecture", .architecture),
            ("deviceFamily", .deviceFamily), ("application", .application),
            ("applicationVersion", .applicationVersion),
        ]
        for (name, fact) in known {
            if let text = facts[fact] { context[name] = .scalar(.string(text)) }
        }
        if let key = Self.targetingKey(facts) { context["targetingKey"] = .scalar(.string(key)) }
        context.merge(self.context) { $1 }
        return JSONValue.object(["context": .object(context.filter { $0.value != .null })]).json()
    }

    /// The host's unique key for a service. machine-id(5) asks not to expose the machine id itself.
    private static func targetingKey(_ facts: HostFacts) -> String? {
        guard let machine = facts[.machine] else { return facts[.host] }
        let code = HMAC<SHA256>.authenticationCode(
            for: Array("tweak-agent OFREP".utf8), using: SymmetricKey(data: Array(machine.utf8)))
        return code.prefix(16).hexadecimal
    }
}
#endif
