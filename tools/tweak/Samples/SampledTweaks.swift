import CommandSupport
import Glibc
import TweakClient
import TweakProtocol
import TweakRecords

extension Program {
    /// The monitors and tweaks that a person names, to be sampled.
    ///
    /// - Returns: Each once, though it is named twice.
    /// - Throws: ``Failure`` with `EX_DATAERR` if one is neither a number nor a Bool.
    func sampled(_ names: [String]) throws(Failure) -> [JSONTweak] {
        var tweaks: [JSONTweak] = []
        for name in names {
            let tweak = try tweak(named: name)
            let type = tweak.declaration.type
            guard type.canBeMonitored else {
                throw Failure(
                    "\(tweak.declaration.key): \(type.withArticle) cannot be sampled; numbers and Bools can",
                    EX_DATAERR)
            }
            if !tweaks.contains(where: { $0.declaration.key == tweak.declaration.key }) {
                tweaks.append(tweak)
            }
        }
        return tweaks
    }

    /// All monitors.
    ///
    /// - Throws: ``Failure`` with `EX_DATAERR` if there is none.
    func monitors() throws(Failure) -> [JSONTweak] {
        let monitors = try tweaks().filter(\.declaration.isMonitor)
        guard !monitors.isEmpty else {
            throw Failure(
                "it has no monitors; name tweaks that are numbers or Bools", about: title, EX_DATAERR)
        }
        return monitors
    }
}
