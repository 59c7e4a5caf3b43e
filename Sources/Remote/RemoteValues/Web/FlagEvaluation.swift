#if Remote
internal import Crypto
package import TweakJSON
internal import TweakRecords
package import TweakTargeting

/// What an OFREP service is asked, instead of a web server for a file.
package struct FlagEvaluation: Hashable, Sendable {
    /// What the configuration says of this host besides what is known of it; null leaves out what is known.
    package var context: JSONObject = [:]
    /// The file with the token that the service wants, which is read for each request, so that it may be replaced.
    package var tokenFile: String?
    /// Which tweaks flags are.
    package var names = FlagNames()

    /// Where a service evaluates all flags, below its base address.
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

    /// What a service tells hosts apart by. machine-id(5) asks not to send the machine id itself to others.
    private static func targetingKey(_ facts: HostFacts) -> String? {
        guard let machine = facts[.machine] else { return facts[.host] }
        let code = HMAC<SHA256>.authenticationCode(
            for: Array("tweak-agent OFREP".utf8), using: SymmetricKey(data: Array(machine.utf8)))
        return code.prefix(16).hexadecimal
    }
}
#endif
