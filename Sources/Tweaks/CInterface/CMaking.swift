internal import FBTweak
internal import TweakRecords

// The functions of fbtweak.h that make and remove tweaks. The header says what each of them does.

@c(fbtweak__make)
func make(declaration: UnsafePointer<fbtweak_declaration>?) -> UnsafePointer<fbtweak>? {
    returningPointer { () throws(CFailure) in
        guard let declaration else { throw .refused("there is no declaration: the pointer is NULL") }
        return try TweakStore.shared.make(TweakDeclaration(declaration.pointee))
    }
}

@c(fbtweak__make_action)
func makeAction(
    category: UnsafePointer<CChar>?, collection: UnsafePointer<CChar>?, name: UnsafePointer<CChar>?,
    function: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?, context: UnsafeMutableRawPointer?
) -> UnsafePointer<fbtweak>? {
    returningPointer { () throws(CFailure) in
        guard let key = TweakKey(category, collection, name), let function else {
            throw .refused("an action needs three levels of a name and a function; one of them is NULL")
        }
        let code = UInt(bitPattern: unsafeBitCast(function, to: UnsafeRawPointer.self))
        return try TweakStore.shared.make(
            TweakDeclaration(key: key, type: .action, defaultValue: .nothing),
            CAction(code: code, context: context))
    }
}

@c(fbtweak__remove)
func remove(tweak: UnsafePointer<fbtweak>?) -> CInt {
    returningCode { () throws(CFailure) in
        try TweakStore.shared.remove(TweakStore.shared.declaration(of: tweak).key)
        return CInt(FBTWEAK_OK)
    }
}

extension TweakStore {
    fileprivate func make(
        _ declaration: TweakDeclaration, _ action: CAction? = nil
    ) throws(CFailure) -> UnsafePointer<fbtweak> {
        let made = withDecodedState { state -> Handle? in
            guard state.entries[declaration.key] == nil else { return nil }
            let known = state.handles[declaration.key]
            let handle =
                known?.declaration == declaration ? known ?? Handle(declaration) : Handle(declaration)
            handle.cell.action = action
            state.handles[declaration.key] = handle
            state.add(declaration, OwnedCell(handle.cell, .made))
            return handle
        }
        guard let made else { throw .refused("\(declaration.key): there is a tweak of this name already") }
        return made.pointer
    }

    fileprivate func remove(_ key: TweakKey) throws(CFailure) {
        let removed = withDecodedState { state -> [ObserverList.Observer]? in
            guard let entry = state.entries[key], entry.cells.contains(where: { $0.owner == .made }) else {
                return nil
            }
            state.replaceCells(of: key, with: entry.cells.filter { $0.owner != .made })
            return state.forgetMissing()
        }
        guard let removed else {
            throw .unknown("\(key): no tweak of this name was made while the program runs")
        }
        let targets = Set(removed.map { RunningCall.Target.observer($0.id) })
        waitForCalls { targets.contains($0.target) }
    }
}

extension TweakDeclaration {
    /// Checks what a program declares.
    fileprivate init(_ declaration: fbtweak_declaration) throws(CFailure) {
        guard let key = TweakKey(declaration.category, declaration.collection, declaration.name) else {
            throw .refused("a tweak needs three levels of a name; one of them is NULL")
        }
        guard let type = TweakType(rawValue: UInt8(clamping: declaration.default_value.type)),
            let defaultValue = declaration.default_value.tweakValue
        else { throw .refused("\(key): the default has no type that a tweak can have") }

        func value(_ value: fbtweak_value, _ what: String) throws(CFailure) -> TweakValue? {
            if value.type == CInt(FBTWEAK_TYPE_NONE) { return nil }
            guard value.type == declaration.default_value.type, let value = value.tweakValue else {
                throw .refused("\(key): the \(what) is of another type than the default, which is \(type)")
            }
            return value
        }
        let attributes = declaration.attributes.texts.map(Attribute.init(text:))
        var choices: [TweakChoice] = []
        for index in 0..<(declaration.choices == nil ? 0 : declaration.choice_count) {
            guard let choice = declaration.choices?[index], let value = try value(choice.value, "choice")
            else {
                throw .refused("\(key): choice \(index) has no value")
            }
            choices.append(TweakChoice(value, label: choice.label.map { String(cString: $0) }))
        }
        self.init(
            key: key, type: type, defaultValue: defaultValue,
            minimum: try value(declaration.minimum, "minimum"),
            maximum: try value(declaration.maximum, "maximum"), step: try value(declaration.step, "step"),
            choices: choices, attributes: attributes)
        if let problem { throw .refused("\(key): \(problem)") }
        self.attributes = choices.flatMap { $0.attributes(type) } + attributes
    }

    /// Why the declaration makes no sense; `nil` if it does.
    private var problem: String? {
        guard type.isNumeric || (minimum ?? maximum ?? step) == nil else {
            return "only a number has limits and a step"
        }
        guard type.isNumeric || type == .string || choices.isEmpty else {
            return "only numbers and texts have choices"
        }
        guard choices.isEmpty || (minimum ?? maximum) == nil else {
            return "a tweak has limits or choices, not both"
        }
        if case .integer(let low)? = minimum, case .integer(let high)? = maximum, low > high {
            return "the minimum is above the maximum"
        }
        if case .double(let low)? = minimum, case .double(let high)? = maximum, !(low <= high) {
            return "the minimum is above the maximum"
        }
        var writable = self
        writable.attributes = []
        do throws(TweakValueError) {
            let admission = try writable.admit(defaultValue)
            return admission.value == defaultValue
                ? nil : "the default is outside the limits; allowed: \(allowed)"
        } catch {
            return "the default: \(error)"
        }
    }
}

extension TweakDeclaration.Attribute {
    fileprivate init(text: String) {
        let parts = text.unicodeScalars.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        self.init(key: String(parts[0]), value: parts.count == 2 ? String(parts[1]) : "")
    }
}

extension TweakChoice {
    /// What a record says of the choice in its text.
    fileprivate func attributes(_ type: TweakType) -> [TweakDeclaration.Attribute] {
        let text = if case .string(let text) = value { text } else { "" }
        let choice = TweakDeclaration.Attribute(key: "choice", value: text)
        return [choice] + (label.map { [TweakDeclaration.Attribute(key: "label", value: $0)] } ?? [])
    }
}

extension UnsafePointer<UnsafePointer<CChar>?>? {
    /// The texts of an array that ends with NULL.
    fileprivate var texts: [String] {
        var texts: [String] = []
        var next = self
        while let text = next?.pointee {
            texts.append(String(cString: text))
            next = next.map { $0 + 1 }
        }
        return texts
    }
}
