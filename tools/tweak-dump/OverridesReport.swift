import CommandSupport
import TweakOverrides
import TweakRecords

/// Writes the defaults, or what tweaks are set to, as a file of overrides that a person edits. Of a tweak in several places
/// the first one counts. Left out is what cannot be set.
final class OverridesReport: Report {
    private var document = OverridesDocument()
    private var seen: Set<TweakKey> = []

    func add(_ image: ImageDump, isShownEmpty: Bool) -> Bool {
        image.forEachTweak {
            tell($0, of: image)
        } _: { tweak in
            let declaration = tweak.declaration
            guard seen.insert(declaration.key).inserted, declaration.type != .action,
                !declaration.isReadOnly
            else { return }
            document.set(tweak.value ?? declaration.defaultValue, for: declaration.key)
        }
    }

    func finish() {
        print(printableJSON(String(decoding: document.json(), as: UTF8.self)), terminator: "")
    }
}
