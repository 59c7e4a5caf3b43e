// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

/// Reports the cases of an enumeration to the library. For macro expansions only.
///
/// - Parameters:
///   - type: The type of a tweak.
///   - context: The argument that the library passed to the function in the type's record. It begins with the
///     address of the function to call for each case.
public func __describe<Value: TweakableRawRepresentable & CaseIterable>(
    _ type: Value.Type, to context: UnsafeMutableRawPointer?
) {
    guard let context else { return }
    let add = context.load(as: AddCase.self)
    for choice in Value.tweakChoices {
        let code = Value.tweakType.rawValue
        let bits: UInt64 =
            switch choice.value {
            case .integer(let number): UInt64(truncatingIfNeeded: number)
            case .double(let number): number.bitPattern
            default: 0
            }
        let text = if case .string(let text) = choice.value { text } else { "" }
        guard let label = choice.label else {
            add(context, code, bits, text, nil)
            continue
        }
        label.withCString { add(context, code, bits, text, $0) }
    }
}

/// Does nothing, for types that cannot list their values. For macro expansions only.
public func __describe<Value>(_ type: Value.Type, to context: UnsafeMutableRawPointer?) {}
