// SPDX-License-Identifier: BSD-3-Clause
import TweakFormats
import TweakTargeting

func document(_ json: String) throws -> RemoteDocument {
    try RemoteDocument(json: Array(json.utf8), path: "features.json")
}

/// The message of the error with which a document is refused; `nil` if it is not.
func refusal(_ json: String) -> String? {
    do {
        _ = try document(json)
        return nil
    } catch {
        return "\(error)"
    }
}

/// The decision about a feature that has these members besides its key and that it is enabled.
func decision(_ filters: String, _ facts: [Fact: String] = [:]) throws -> FeatureDecision {
    let json = #"{"features": [{"key": "search", "enabled": true, \#(filters)}]}"#
    guard case .features(let targets) = try document(json).content, let feature = targets.features.first
    else {
        fatalError("there is no feature in \(json)")
    }
    return feature.decision(for: HostFacts(facts))
}

func isOn(_ filters: String, _ facts: [Fact: String]) throws -> Bool { try decision(filters, facts).isOn }

extension HostFacts {
    init(_ facts: [Fact: String]) {
        self.init()
        for (fact, text) in facts { self[fact] = text }
    }
}
