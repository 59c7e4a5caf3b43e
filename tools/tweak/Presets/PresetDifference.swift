import TweakJSON
import TweakProtocol
import CommandSupport
import Tweaks

/// A tweak that has another value than in a preset. As JSON: keys are a promise to scripts.
struct PresetDifference: Encodable {
    let tweak: String
    /// The value with which the program starts the next time; `nil` if it does not have the tweak.
    let value: TweakValue?
    /// `nil` if the preset does not have the tweak.
    let preset: JSONValue?
    /// Why the tweak cannot have the value of the preset.
    var problem: String?
    private let declaration: TweakDeclaration?

    private enum CodingKeys: CodingKey { case tweak, value, preset, problem }

    var valueText: String { value.flatMap { declaration?.text(of: $0) } ?? "" }
    var presetText: String {
        guard let preset else { return "" }
        guard let declaration, let value = preset.value(of: declaration.type) else { return preset.summary }
        return declaration.text(of: value)
    }
}

extension PresetDifference {
    /// Where the values of a program differ from those of a preset, by name.
    static func all(of program: any Program, from preset: OverridesDocument) throws(Failure)
        -> [PresetDifference]
    {
        let tweaks = Dictionary(try program.tweaks().map { ($0.declaration.key, $0) }) { first, _ in first }
        let set = try program.values(includingDefaults: false)
        return Set(preset.keys).union(set.keys).sorted().compactMap { key in
            let tweak = tweaks[key]
            var difference = PresetDifference(
                tweak: "\(key)", value: tweak?.nextValue, preset: preset[key], declaration: tweak?.declaration
            )
            guard let tweak else {
                difference.problem = "the program does not have it"
                return difference
            }
            do throws(TweakValueError) {
                let wanted = try preset.admission(for: tweak.declaration)?.value
                return wanted == tweak.nextValue ? nil : difference
            } catch {
                difference.problem = "\(error)"
                return difference
            }
        }
    }
}
