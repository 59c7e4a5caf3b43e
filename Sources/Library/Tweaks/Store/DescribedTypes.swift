// SPDX-License-Identifier: BSD-3-Clause
internal import CTweaks
internal import TweakRecords

/// Tells the library the cases of an enumeration. For macro expansions only.
///
/// - Parameters:
///   - type: The type of a tweak.
///   - description: What the library gave the function of the type's record.
public func __describe<Value: TweakableRawRepresentable & CaseIterable>(
    _ type: Value.Type, to description: UnsafeMutableRawPointer?
) {
    description?.assumingMemoryBound(to: TypeDescription.self).pointee =
        TypeDescription(type: Value.tweakType, choices: Value.tweakChoices)
}

/// Selected for types that cannot list their values.
public func __describe<Value>(_ type: Value.Type, to description: UnsafeMutableRawPointer?) {}

/// What the function of a type record says; no choices if the type cannot list its values.
struct TypeDescription {
    var type = TweakType.action
    var choices: [TweakChoice] = []
}

/// A type record of an image, whose function has not been called yet.
struct UndescribedType {
    let record: TypeRecord
    let image: UInt32
    let function: CFunction

    init?(_ record: TypeRecord, in records: UnsafeRawBufferPointer, of image: UInt32) {
        let offset = record.offset + RecordLayout.cellOffset
        let code = records.loadUnaligned(fromByteOffset: offset, as: UInt.self)
        guard code != 0 else { return nil }
        (self.record, self.image, function) = (record, image, CFunction(code: code, context: nil))
    }
}

/// An enumeration of the program, whose cases only its code can list.
struct Enumeration {
    let cases: [TweakChoice]
    /// The name of the case that is the default; empty if the record has the default.
    let defaultCase: String

    /// A declaration with the cases as choices, or with those of them that it lists. A macro sees the names of cases,
    /// and not their raw values.
    ///
    /// - Parameter messages: Collects messages about other choices.
    func complete(_ declaration: TweakDeclaration, _ messages: inout [String]) -> TweakDeclaration {
        var choices: [TweakChoice] = []
        for choice in declaration.choices {
            if let named = first(named: choice.caseName) {
                choices.append(named)
            } else if let same = cases.first(where: { $0.value == choice.value }) {
                choices.append(TweakChoice(same.value, label: choice.label))
            } else {
                messages.append(
                    "\(declaration.key): the enumeration has no case \(choice), which is a choice")
            }
        }
        if choices.isEmpty { choices = cases }
        var attributes: [TweakDeclaration.Attribute] = []
        for choice in choices { attributes += choice.attributes }
        for attribute in declaration.attributes where attribute.key != "choice" && attribute.key != "label" {
            attributes.append(attribute)
        }
        return TweakDeclaration(
            key: declaration.key, type: declaration.type,
            defaultValue: first(named: defaultCase)?.value ?? declaration.defaultValue,
            step: declaration.step, choices: choices, attributes: attributes)
    }

    private func first(named name: String) -> TweakChoice? { cases.first { $0.caseName == name } }
}

extension TweakChoice {
    /// The name of the case that a choice of an enumeration is for.
    fileprivate var caseName: String { label ?? "\(value)" }
}

extension TweakStore {
    /// Calls the functions of type records, without a lock, and returns when those called on other threads have
    /// returned, too. The next holder of the lock reports messages.
    func describeTypes() {
        while let (type, call) = state.withLock({ $0.beginDescribing() }) {
            var description = TypeDescription()
            withUnsafeMutablePointer(to: &description) { description in
                let function = CFunction(code: type.function.code, context: description)
                callProgram { function() }
            }
            state.withLock { $0.endDescribing(type, call, description) }
        }
        state.waitForCalls { $0.target == .type }
        deliverChanges()
    }

    /// Has the worker call the functions of type records, if there are some.
    ///
    /// - Parameter done: Called on the worker afterwards.
    /// - Returns: Whether there are some.
    func describeTypes(on worker: SerialQueue, done: @escaping @Sendable () -> Void = {}) -> Bool {
        let isComplete = state.withLock { state in
            state.decode()
            return state.knowsTypes
        }
        return !isComplete
            && worker.add {
                self.withDecodedState { _ in }
                done()
            }
    }
}
