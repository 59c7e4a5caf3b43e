// SPDX-License-Identifier: BSD-3-Clause
#if Remote
package import TweakFormats
package import TweakRecords

/// A tweak whose value, or its hosts, differ between two environments.
package struct FleetDifference: Sendable {
    package typealias State = (value: Result<FleetValue, FormatError>, revision: Int)

    package let tweak: TweakKey
    /// The state in each environment; `nil` if there is no value.
    package let first: State?
    package let second: State?

    /// The differences, sorted by name. Authors, times and reasons are not compared.
    package static func all(_ first: FleetContents, _ second: FleetContents) -> [FleetDifference] {
        let tweaks = Set((first.values + second.values).map(\.tweak))
        return tweaks.sorted { $0.description < $1.description }.compactMap { tweak in
            let (one, other) = (first[tweak], second[tweak])
            return isSame(one, other) ? nil : FleetDifference(tweak: tweak, first: one, second: other)
        }
    }

    /// Invalid values always differ, because their meaning is unknown.
    private static func isSame(_ first: State?, _ second: State?) -> Bool {
        switch (first?.value, second?.value) {
        case (nil, nil): true
        case (.success(let first), .success(let second)): first.content == second.content
        default: false
        }
    }
}

extension FleetContents {
    /// The tweaks whose values were changed or removed after a revision. Needs the history, without which removals are
    /// unknown.
    package func changed(after revision: Int) -> Set<TweakKey> {
        let removed = changes.filter { $0.revision > revision }.flatMap(\.parts).filter { !$0.isKill }
        return Set(removed.map(\.tweak)).union(values.filter { $0.revision > revision }.map(\.tweak))
    }
}
#endif
