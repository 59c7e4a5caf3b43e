// SPDX-License-Identifier: BSD-3-Clause
internal import CTweaks
internal import TweakRecords

/// The function to which the function of a type record gives each case, with the context that it was called with: the
/// code of the type, the raw value as in a record, the text of one that is a string, and the name of the case if it is
/// not the raw value. It is C's, because the image of the record may have a library of its own.
typealias AddCase =
    @convention(c) (
        _ context: UnsafeMutableRawPointer, _ type: UInt8, _ bits: UInt64, _ text: UnsafePointer<CChar>,
        _ name: UnsafePointer<CChar>?
    ) -> Void

/// The cases that the function of a type record gives. A type that cannot list its values gives none.
struct TypeDescription {
    /// The first member, which the function calls.
    private let add: AddCase = { context, type, bits, text, name in
        context.assumingMemoryBound(to: TypeDescription.self).pointee.add(type, bits, text, name)
    }
    private(set) var type = TweakType.action
    private(set) var choices: [TweakChoice] = []

    private mutating func add(
        _ code: UInt8, _ bits: UInt64, _ text: UnsafePointer<CChar>, _ name: UnsafePointer<CChar>?
    ) {
        guard let type = TweakType(rawValue: code), type.isNumeric || type == .string else { return }
        self.type = type
        let value: TweakValue =
            switch type {
            case .string: .string(String(cString: text))
            case .float, .double: .double(Double(bitPattern: bits))
            case .uint8, .uint16, .uint32, .uint64: .integer(Int128(bits))
            default: .integer(Int128(Int64(bitPattern: bits)))
            }
        choices.append(TweakChoice(value, label: name.map { String(cString: $0) }))
    }
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
            if let named = first(named: choice.name) {
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

    private func first(named name: String) -> TweakChoice? { cases.first { $0.name == name } }
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
