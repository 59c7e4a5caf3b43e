// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import TweakOverrides
import TweakRecords

/// Writes the defaults, or the current values, as an overrides file to edit. If a tweak is declared several times, the
/// first declaration counts. Tweaks that cannot be set are left out.
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
