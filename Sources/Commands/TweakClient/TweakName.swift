// SPDX-License-Identifier: BSD-3-Clause
package import CommandSupport
package import TweakFormats
package import TweakProtocol
package import TweakRecords

// Names as typed, for commands that end with a message about a wrong one.

extension Failure {
    package init(_ error: TweakNameError) { self.init(error, listedBy: "tweak list") }

    /// - Parameter command: The command that shows all names.
    fileprivate init(_ error: TweakNameError, listedBy command: String) {
        switch error {
        case .malformed, .malformedGroup: self.init("\(error)", .usage)
        case .ambiguous(_, let keys), .group(_, let keys):
            self.init("\(error)", details: keys.map(\.description).beginning, .invalid)
        case .ambiguousGroup(_, let groups): self.init("\(error)", details: groups.beginning, .invalid)
        case .unknown(_, _, let nearest):
            self.init("\(error)" + (nearest.isEmpty ? "; \(command) shows all" : ""), .invalid)
        case .dotted, .unknownGroup: self.init("\(error)", .invalid)
        }
    }
}

extension TweakName {
    package init(_ text: String) throws(Failure) {
        do throws(TweakNameError) { self = try TweakName(parsing: text) } catch { throw Failure(error) }
    }

    /// The tweak with this name.
    ///
    /// - Parameter command: The command that shows all names.
    /// - Throws: ``Failure`` if no tweak or several match.
    package func key(
        among keys: [TweakKey], listedBy command: String = "tweak list"
    ) throws(Failure) -> TweakKey {
        var names = TweakNames(keys)
        do throws(TweakNameError) { return try names.key(of: self) } catch {
            throw Failure(error, listedBy: command)
        }
    }

    /// The best matches: several if the name is ambiguous.
    package func meant(among keys: [TweakKey]) -> [TweakKey] {
        var names = TweakNames(keys)
        return names.meant(by: self)
    }
}

extension TweakScope {
    /// Parses the name of a group, see ``TweakNames/group(of:)``.
    package init(_ text: String, among tweaks: [JSONTweak]) throws(Failure) {
        do throws(TweakNameError) {
            self = try TweakNames(tweaks.map(\.declaration.key)).group(of: text)
        } catch {
            throw Failure(error)
        }
    }
}
