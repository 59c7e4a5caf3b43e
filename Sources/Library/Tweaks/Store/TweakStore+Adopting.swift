// SPDX-License-Identifier: BSD-3-Clause
internal import TweakOverrides
internal import TweakProtocol
internal import TweakRecords

extension TweakStore {
    /// Makes tweaks of the variables that a person has adopted, and reports problems of their file. Their overrides
    /// apply from now on.
    func adoptVariables() {
        do throws(OverridesError) { try readAdopted() } catch { diagnostics.warn("\(error)") }
    }

    /// Reads the file of adopted variables, and makes tweaks of those that are new. Those that are no longer in the file
    /// disappear, and the variables keep their values.
    ///
    /// - Parameter storesAgain: Whether to store the values once more that the program has overwritten.
    /// - Throws: ``OverridesError``; then nothing changes.
    func readAdopted(storingAgain storesAgain: Bool = false) throws(OverridesError) {
        let (application, former) = state.withLock { ($0.application, $0.adopted) }
        guard let application else { return }
        let adopted = try AdoptedFile(application: application).loadTrusted()
        guard storesAgain || !adopted.builds.isEmpty || !former.builds.isEmpty else { return }
        // Without the lock of the store, because it takes that of the dynamic linker.
        let images = ProcessImage.lasting(in: adopted)
        let isWritten = withState { state in
            state.adopted = adopted
            state.adoptVariables(of: images)
            if storesAgain { state.storeOverwritten() }
            return state.dropBaked()
        }
        if !isWritten { flush() }
        deliverChanges()
    }
}

extension StoreState {
    /// A variable that can be a tweak. A class, because copies of a large structure take much code.
    private final class Variable {
        let declaration: TweakDeclaration
        let cell: OwnedCell

        init(_ declaration: TweakDeclaration, _ cell: OwnedCell) {
            (self.declaration, self.cell) = (declaration, cell)
        }

        /// Whether the variable is a tweak already, with the same declaration.
        func isTweak(_ entry: TweakEntry) -> Bool {
            entry.isAdopted && entry.cells.first?.cell.number == cell.cell.number
                && entry.declaration == declaration
        }
    }

    /// Makes tweaks of the adopted variables of all images.
    ///
    /// - Parameter lasting: The images with adopted variables that are never unloaded. Other images without tweaks do
    ///   not announce that they are unloaded, so their variables cannot be tweaks.
    mutating func adoptVariables(of lasting: [ProcessImage]) {
        var taken: [StableNumber: TweakKey] = [:]
        var variables = lasting.flatMap { self.variables(of: $0, nil, &taken) }
        for (image, number) in images.opened { variables += self.variables(of: image, number, &taken) }
        var kept: Set<TweakKey> = []
        for variable in variables {
            let key = variable.declaration.key
            if let entry = tweaks[key], variable.isTweak(entry) { kept.insert(key) }
        }
        for entry in Array(tweaks.all) where entry.isAdopted && !kept.contains(entry.key) {
            removeCells(of: entry.key, keepingObservers: true) { $0.owner.isAdopted }
        }
        add(variables)
    }

    /// Makes tweaks of the adopted variables of an image that can be unloaded.
    mutating func adoptVariables(of image: ProcessImage, _ number: UInt32) {
        var taken: [StableNumber: TweakKey] = [:]
        add(self.variables(of: image, number, &taken))
    }

    /// Keeps the values of variables that get one of a provider, so that they have them again afterwards.
    mutating func keepOwnValues(_ plan: ValuePlan) {
        plan.steps.forEach { _, step in
            let entry = step.entry
            guard entry.isStoredByProgram else { return }
            if step.resolution.source == .binary {
                layers.ownValues[entry.key] = nil
            } else if entry.source == .binary || entry.overwrittenValue != nil {
                layers.ownValues[entry.key] = entry.value
            }
        }
    }

    /// Stores the values of variables once more that the program has overwritten.
    fileprivate func storeOverwritten() {
        for entry in tweaks.all where entry.overwrittenValue != nil { entry.storeAgain() }
    }

    private mutating func add(_ variables: [Variable]) {
        decode(only: variables.map { $0.declaration.key })
        for variable in variables {
            if let entry = tweaks[variable.declaration.key], !entry.isProvided {
                if !variable.isTweak(entry) {
                    messages.append(
                        "\(entry.key): the adopted variable is ignored, because there is a tweak of this name"
                    )
                }
                continue
            }
            addVariable(variable.declaration, variable.cell)
        }
    }

    /// The adopted variables of an image that can be tweaks. A text is only shown by commands, because its address may
    /// lead anywhere.
    ///
    /// - Parameter taken: The tweaks of bytes, by their addresses.
    private mutating func variables(
        of image: ProcessImage, _ number: UInt32?, _ taken: inout [StableNumber: TweakKey]
    ) -> [Variable] {
        guard let adopted = image.identity.flatMap({ self.adopted[$0] }) else { return [] }
        var variables: [Variable] = []
        var problems: [String] = []
        for variable in adopted where variable.tweak.declaration.type != .string {
            let declaration: TweakDeclaration
            do throws(TweakError) { declaration = try variable.tweak.declaration.checked() } catch {
                problems.append("\(error)")
                continue
            }
            let bytes = UInt(declaration.type.byteCount)
            guard declaration.type.canBeMonitored,
                let cell = image.cell(at: variable.address, declaration.type),
                !(cell.number..<cell.number + bytes).contains(where: { taken[StableNumber($0)] != nil })
            else {
                problems.append(
                    "the adopted variable \(variable.variable) is ignored, because there is no "
                        + "\(declaration.type) of its own at its address; adopt it again")
                continue
            }
            for byte in cell.number..<cell.number + bytes { taken[StableNumber(byte)] = declaration.key }
            let owned = OwnedCell(cell, .adopted(image: number))
            variables.append(Variable(declaration, owned))
        }
        if let first = problems.first {
            messages.append(
                "\(image.path): \(first)" + (problems.count > 1 ? "; and \(problems.count - 1) more" : ""))
        }
        return variables
    }
}
