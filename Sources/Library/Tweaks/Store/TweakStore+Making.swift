public import TweakRecords

extension TweakStore {
    /// Makes a tweak while the program runs. It has its override, if there is one, from the start.
    ///
    /// What is said here stands above what a provider says of a tweak that only the provider knows.
    ///
    /// - Throws: ``TweakError/invalid(_:reason:)`` if the declaration is none of a value, ``TweakError/exists(_:)`` if the
    ///   program has a tweak of this name.
    public func make(_ declaration: TweakDeclaration) throws(TweakError) {
        let declaration = try declaration.checked()
        guard declaration.type != .action else {
            throw .invalid(declaration.key, reason: "an action needs a function, see makeAction")
        }
        _ = try makeHandle(declaration, nil)
    }

    /// Makes a tweak while the program runs.
    ///
    ///     let mode = try store.make(TweakKey("Spring", "Drawing", "Mode"), default: "wire", choices: ["wire", "solid"])
    ///
    /// The tweak has its override, if there is one, from the start. An enumeration has its cases as choices.
    ///
    /// - Parameters:
    ///   - key: The name.
    ///   - default: The value of the tweak that nobody has changed.
    ///   - choices: The only values that the tweak takes; empty if it takes others.
    ///   - unit: What its numbers count, such as `kg`.
    ///   - description: What it does, for a person.
    ///   - owner: Who looks after it.
    ///   - expires: The last day for which it is meant, as `YYYY-MM-DD`.
    ///   - readOnly: Whether nobody can set it.
    ///   - needsRestart: Whether what is set takes effect at the next start of the program.
    /// - Throws: ``TweakError/invalid(_:reason:)`` if that makes no sense, ``TweakError/exists(_:)`` if the program has a tweak
    ///   of this name.
    @discardableResult
    public func make<Value: TweakableValue>(
        _ key: TweakKey, default: Value, choices: [Value] = [],
        unit: String? = nil, description: String? = nil, owner: String? = nil, expires: String? = nil,
        readOnly: Bool = false, needsRestart: Bool = false
    ) throws(TweakError) -> Tweak<Value> {
        try make(
            key, `default`, choices: choices,
            texts: ["unit": unit, "doc": description, "owner": owner, "expires": expires],
            flags: ["read-only": readOnly, "needs-restart": needsRestart])
    }

    /// Makes a tweak while the program runs, by the levels of its name.
    ///
    /// - Parameters:
    ///   - category: The first level of the name.
    ///   - collection: The second level.
    ///   - name: The third level.
    ///   - default: The value of the tweak that nobody has changed.
    ///   - choices: The only values that the tweak takes; empty if it takes others.
    ///   - unit: What its numbers count, such as `kg`.
    ///   - description: What it does, for a person.
    ///   - owner: Who looks after it.
    ///   - expires: The last day for which it is meant, as `YYYY-MM-DD`.
    ///   - readOnly: Whether nobody can set it.
    ///   - needsRestart: Whether what is set takes effect at the next start of the program.
    /// - Throws: ``TweakError/invalid(_:reason:)`` if that makes no sense, ``TweakError/exists(_:)`` if the program has a tweak
    ///   of this name.
    @discardableResult
    public func make<Value: TweakableValue>(
        _ category: String, _ collection: String, _ name: String, default: Value, choices: [Value] = [],
        unit: String? = nil, description: String? = nil, owner: String? = nil, expires: String? = nil,
        readOnly: Bool = false, needsRestart: Bool = false
    ) throws(TweakError) -> Tweak<Value> {
        try make(
            TweakKey(category, collection, name), default: `default`, choices: choices, unit: unit,
            description: description, owner: owner, expires: expires, readOnly: readOnly,
            needsRestart: needsRestart)
    }

    /// Makes a tweak of a number while the program runs.
    ///
    ///     let mass = try store.make(TweakKey("Spring", "Physics", "Mass"), default: 1.0, in: 0.1...100, unit: "kg")
    ///
    /// - Parameters:
    ///   - key: The name.
    ///   - default: The value of the tweak that nobody has changed.
    ///   - limits: The smallest and the largest value, or one of them, as `0...` and `...100` say.
    ///   - step: The distance between two neighbouring values on a slider or stepper.
    ///   - precision: How many decimals displays show, from 0 to 17.
    ///   - scale: How a slider moves; logarithmic only with a minimum above 0.
    ///   - pair: The name of the number in its collection that is up, where this one is sideways, on a pad of both.
    ///   - unit: What its numbers count, such as `kg`.
    ///   - description: What it does, for a person.
    ///   - owner: Who looks after it.
    ///   - expires: The last day for which it is meant, as `YYYY-MM-DD`.
    ///   - readOnly: Whether nobody can set it.
    ///   - needsRestart: Whether what is set takes effect at the next start of the program.
    /// - Throws: ``TweakError/invalid(_:reason:)`` if that makes no sense, ``TweakError/exists(_:)`` if the program has a
    ///   tweak of this name.
    @discardableResult
    public func make<Value: TweakableValue & Comparable>(
        _ key: TweakKey, default: Value, in limits: some TweakLimits<Value>, step: Value? = nil,
        precision: Int? = nil, scale: TweakScale? = nil, pair: String? = nil,
        unit: String? = nil, description: String? = nil, owner: String? = nil, expires: String? = nil,
        readOnly: Bool = false, needsRestart: Bool = false
    ) throws(TweakError) -> Tweak<Value> {
        try make(
            key, `default`, minimum: limits.tweakMinimum, maximum: limits.tweakMaximum, step: step,
            texts: [
                "unit": unit, "precision": precision.map { "\($0)" }, "scale": scale?.name, "pair": pair,
                "doc": description, "owner": owner, "expires": expires,
            ],
            flags: ["read-only": readOnly, "needs-restart": needsRestart])
    }

    /// Makes a tweak of a number while the program runs, by the levels of its name.
    ///
    /// - Parameters:
    ///   - category: The first level of the name.
    ///   - collection: The second level.
    ///   - name: The third level.
    ///   - default: The value of the tweak that nobody has changed.
    ///   - limits: The smallest and the largest value, or one of them, as `0...` and `...100` say.
    ///   - step: The distance between two neighbouring values on a slider or stepper.
    ///   - precision: How many decimals displays show, from 0 to 17.
    ///   - scale: How a slider moves; logarithmic only with a minimum above 0.
    ///   - pair: The name of the number in its collection that is up, where this one is sideways, on a pad of both.
    ///   - unit: What its numbers count, such as `kg`.
    ///   - description: What it does, for a person.
    ///   - owner: Who looks after it.
    ///   - expires: The last day for which it is meant, as `YYYY-MM-DD`.
    ///   - readOnly: Whether nobody can set it.
    ///   - needsRestart: Whether what is set takes effect at the next start of the program.
    /// - Throws: ``TweakError/invalid(_:reason:)`` if that makes no sense, ``TweakError/exists(_:)`` if the program has a
    ///   tweak of this name.
    @discardableResult
    public func make<Value: TweakableValue & Comparable>(
        _ category: String, _ collection: String, _ name: String, default: Value,
        in limits: some TweakLimits<Value>, step: Value? = nil, precision: Int? = nil,
        scale: TweakScale? = nil, pair: String? = nil, unit: String? = nil, description: String? = nil,
        owner: String? = nil, expires: String? = nil,
        readOnly: Bool = false, needsRestart: Bool = false
    ) throws(TweakError) -> Tweak<Value> {
        try make(
            TweakKey(category, collection, name), default: `default`, in: limits, step: step,
            precision: precision, scale: scale, pair: pair, unit: unit, description: description,
            owner: owner, expires: expires, readOnly: readOnly, needsRestart: needsRestart)
    }

    func make<Value: TweakableValue>(
        _ key: TweakKey, _ defaultValue: Value, minimum: Value? = nil, maximum: Value? = nil,
        step: Value? = nil,
        choices: [Value] = [], texts: KeyValuePairs<String, String?>, flags: KeyValuePairs<String, Bool> = [:]
    ) throws(TweakError) -> Tweak<Value> {
        var attributes = texts.compactMap { name, text in
            (text ?? (name == "unit" ? Value.tweakUnit : nil)).map {
                TweakDeclaration.Attribute(key: name, value: $0)
            }
        }
        attributes += flags.filter(\.value).map { TweakDeclaration.Attribute(key: $0.key, value: "") }
        let labels = Value.tweakChoices
        try make(
            TweakDeclaration(
                key: key, type: Value.tweakType, defaultValue: defaultValue.tweakValue,
                minimum: minimum?.tweakValue, maximum: maximum?.tweakValue,
                step: step?.tweakValue,
                choices: choices.isEmpty
                    ? labels
                    : choices.map { choice in
                        labels.first { $0.value == choice.tweakValue } ?? TweakChoice(choice.tweakValue)
                    },
                attributes: attributes))
        return try tweak(key)
    }

    /// Removes a tweak that was made while the program runs, with its closures and the variables of C that are bound to it. Its override
    /// is kept, and its handles have the default from now on. Observers of C end with it; those of Swift hear of it
    /// again if it is made again.
    ///
    /// - Throws: ``TweakError/notMade(_:)``.
    public func remove(_ key: TweakKey) throws(TweakError) {
        let removed = withDecodedState { state -> ([ObserverList.Observer], [ActionClosure])? in
            let made = state.tweaks[key]?.cells.all.filter { $0.owner == .made } ?? []
            guard !made.isEmpty else { return nil }
            let functions = made.compactMap(\.cell.action)
            state.removeCells(of: key) { $0.owner == .made }
            // They are the program's, and are released without the lock.
            let closures = functions.compactMap { state.closures.removeValue(forKey: $0.contextNumber) }
            return (state.delivery.drainRemoved(), closures)
        }
        guard let removed else { throw .notMade(key) }
        state.waitForCalls(of: removed.0)
    }

    /// - Parameter addClosure: Adds the closure of Swift that the function of an action calls. The action may have others.
    func makeHandle(
        _ declaration: TweakDeclaration, _ action: CFunction?,
        _ addClosure: ((inout StoreState) -> Void)? = nil
    ) throws(TweakError) -> Handle {
        startIfShared()
        let made = withDecodedState { state in
            let made = state.addRecord(declaration, .made, action, isFurther: addClosure != nil)
            if made != nil { addClosure?(&state) }
            return made
        }
        guard let made else { throw .exists(declaration.key) }
        // A tweak that only a provider knew may have been of another type.
        deliverChanges()
        return made
    }
}

/// What the values of a tweak are between: a range with both ends, or with one.
public protocol TweakLimits<Bound> {
    /// The type of the values.
    associatedtype Bound: TweakableValue
    /// The smallest value; `nil` if only the type limits it.
    var tweakMinimum: Bound? { get }
    /// The largest value; `nil` if only the type limits it.
    var tweakMaximum: Bound? { get }
}

extension ClosedRange: TweakLimits where Bound: TweakableValue {
    /// The lower bound.
    public var tweakMinimum: Bound? { lowerBound }
    /// The upper bound.
    public var tweakMaximum: Bound? { upperBound }
}

extension PartialRangeFrom: TweakLimits where Bound: TweakableValue {
    /// The lower bound.
    public var tweakMinimum: Bound? { lowerBound }
    /// None.
    public var tweakMaximum: Bound? { nil }
}

extension PartialRangeThrough: TweakLimits where Bound: TweakableValue {
    /// None.
    public var tweakMinimum: Bound? { nil }
    /// The upper bound.
    public var tweakMaximum: Bound? { upperBound }
}
