// SPDX-License-Identifier: BSD-3-Clause
public import TweakRecords

extension TweakStore {
    /// Makes a tweak at run time.
    ///
    ///     let mode = try store.make(TweakKey("Spring", "Drawing", "Mode"), default: "wire", choices: ["wire", "solid"])
    ///
    /// Its override, if any, applies at once. An enumeration's cases are its choices.
    ///
    /// - Parameters:
    ///   - key: The name.
    ///   - default: The default.
    ///   - choices: The only allowed values; empty for no restriction.
    ///   - unit: The unit of the numbers, such as `kg`.
    ///   - description: A description for people.
    ///   - owner: The person or team responsible.
    ///   - expires: The last day on which the tweak should exist, as `YYYY-MM-DD`.
    ///   - readOnly: Whether the tweak can be seen but not set.
    ///   - needsRestart: Whether a new value takes effect at the program's next start.
    /// - Throws: ``TweakError/invalid(_:reason:)`` if the declaration is invalid, ``TweakError/exists(_:)``
    ///   if the program has a tweak of this name.
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

    /// Makes a tweak at run time, from the three levels of its name.
    ///
    /// - Parameters:
    ///   - category: The first level of the name.
    ///   - collection: The second level.
    ///   - name: The third level.
    ///   - default: The default.
    ///   - choices: The only allowed values; empty for no restriction.
    ///   - unit: The unit of the numbers, such as `kg`.
    ///   - description: A description for people.
    ///   - owner: The person or team responsible.
    ///   - expires: The last day on which the tweak should exist, as `YYYY-MM-DD`.
    ///   - readOnly: Whether the tweak can be seen but not set.
    ///   - needsRestart: Whether a new value takes effect at the program's next start.
    /// - Throws: ``TweakError/invalid(_:reason:)`` if the declaration is invalid, ``TweakError/exists(_:)``
    ///   if the program has a tweak of this name.
    @_alwaysEmitIntoClient @discardableResult
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

    /// Makes a numeric tweak at run time.
    ///
    ///     let mass = try store.make(TweakKey("Spring", "Physics", "Mass"), default: 1.0, in: 0.1...100, unit: "kg")
    ///
    /// - Parameters:
    ///   - key: The name.
    ///   - default: The default.
    ///   - limits: The minimum and maximum; a range such as `0...` or `...100` has only one.
    ///   - step: The increment of a slider or stepper.
    ///   - precision: The number of decimals to show, from 0 to 17.
    ///   - scale: The scale of a slider; a logarithmic one needs a minimum above 0.
    ///   - pair: The name of the number on the vertical axis of a pad, in the same collection; this tweak is
    ///     on the horizontal axis.
    ///   - unit: The unit, such as `kg`.
    ///   - description: A description for people.
    ///   - owner: The person or team responsible.
    ///   - expires: The last day on which the tweak should exist, as `YYYY-MM-DD`.
    ///   - readOnly: Whether the tweak can be seen but not set.
    ///   - needsRestart: Whether a new value takes effect at the program's next start.
    /// - Throws: ``TweakError/invalid(_:reason:)`` if the declaration is invalid, ``TweakError/exists(_:)``
    ///   if the program has a tweak of this name.
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

    /// Makes a numeric tweak at run time, from the three levels of its name.
    ///
    /// - Parameters:
    ///   - category: The first level of the name.
    ///   - collection: The second level.
    ///   - name: The third level.
    ///   - default: The default.
    ///   - limits: The minimum and maximum; a range such as `0...` or `...100` has only one.
    ///   - step: The increment of a slider or stepper.
    ///   - precision: The number of decimals to show, from 0 to 17.
    ///   - scale: The scale of a slider; a logarithmic one needs a minimum above 0.
    ///   - pair: The name of the number on the vertical axis of a pad, in the same collection; this tweak is
    ///     on the horizontal axis.
    ///   - unit: The unit, such as `kg`.
    ///   - description: A description for people.
    ///   - owner: The person or team responsible.
    ///   - expires: The last day on which the tweak should exist, as `YYYY-MM-DD`.
    ///   - readOnly: Whether the tweak can be seen but not set.
    ///   - needsRestart: Whether a new value takes effect at the program's next start.
    /// - Throws: ``TweakError/invalid(_:reason:)`` if the declaration is invalid, ``TweakError/exists(_:)``
    ///   if the program has a tweak of this name.
    @_alwaysEmitIntoClient @discardableResult
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
        choices: [Value] = [], element: TweakDeclaration? = nil, texts: KeyValuePairs<String, String?>,
        flags: KeyValuePairs<String, Bool> = [:]
    ) throws(TweakError) -> Tweak<Value> {
        var attributes = attributes(texts.map { ($0, $1 ?? ($0 == "unit" ? Value.tweakUnit : nil)) })
        attributes += flags.filter { $0.value }.map { TweakDeclaration.Attribute(key: $0.key, value: "") }
        let ofType = Value.tweakElement.map { TweakDeclaration(key: key, type: $0, defaultValue: .nothing) }
        attributes += [element ?? ofType].compactMap { $0?.elementAttribute }
        if Value.tweakIsOptional { attributes.append(TweakDeclaration.Attribute(key: "optional", value: "")) }
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
}

extension TweakStore {
    /// Makes a monitor at run time.
    ///
    /// - Parameters:
    ///   - key: The name.
    ///   - type: The type of the values.
    ///   - limits: The range of displays, with one or both ends.
    ///   - choices: The names of states by number.
    ///   - precision: The number of decimals to show, from 0 to 17.
    ///   - unit: The unit, such as `rpm`.
    ///   - description: A description for people.
    ///   - owner: The person or team responsible.
    /// - Throws: ``TweakError/invalid(_:reason:)`` if the parameters are invalid, ``TweakError/exists(_:)``
    ///   if the program has a monitor or tweak of this name.
    public func makeMonitor<Value: MonitoredValue>(
        _ key: TweakKey, of type: Value.Type = Value.self, in limits: (any TweakLimits<Value>)? = nil,
        choices: KeyValuePairs<Value, String> = [:], precision: Int? = nil, unit: String? = nil,
        description: String? = nil, owner: String? = nil
    ) throws(TweakError) -> TweakMonitor<Value> {
        let texts = [
            ("unit", unit), ("precision", precision.map { "\($0)" }), ("doc", description), ("owner", owner),
        ]
        let declaration = TweakDeclaration(
            key: key, type: Value.tweakType, defaultValue: Value.tweakType == .bool ? false : 0,
            minimum: limits?.tweakMinimum?.tweakValue, maximum: limits?.tweakMaximum?.tweakValue,
            choices: choices.map { TweakChoice($0.key.tweakValue, label: $0.value) },
            attributes: attributes(texts), isMonitor: true)
        return TweakMonitor(cell: try makeHandle(declaration.checked(), nil).cell.number)
    }

    /// Makes a monitor at run time, from the three levels of its name.
    ///
    /// - Parameters:
    ///   - category: The first level of the name.
    ///   - collection: The second level.
    ///   - name: The third level.
    ///   - type: The type of the values.
    ///   - limits: The range of displays, with one or both ends.
    ///   - choices: The names of states by number.
    ///   - precision: The number of decimals to show, from 0 to 17.
    ///   - unit: The unit, such as `rpm`.
    ///   - description: A description for people.
    ///   - owner: The person or team responsible.
    /// - Throws: ``TweakError/invalid(_:reason:)`` if the parameters are invalid, ``TweakError/exists(_:)``
    ///   if the program has a monitor or tweak of this name.
    @_alwaysEmitIntoClient
    public func makeMonitor<Value: MonitoredValue>(
        _ category: String, _ collection: String, _ name: String, of type: Value.Type = Value.self,
        in limits: (any TweakLimits<Value>)? = nil, choices: KeyValuePairs<Value, String> = [:],
        precision: Int? = nil, unit: String? = nil, description: String? = nil, owner: String? = nil
    ) throws(TweakError) -> TweakMonitor<Value> {
        try makeMonitor(
            TweakKey(category, collection, name), of: type, in: limits, choices: choices,
            precision: precision,
            unit: unit, description: description, owner: owner)
    }

    /// Makes an action at run time, or adds a closure to an existing one. All closures of a name run, in the
    /// order of their addition.
    ///
    ///     let clear = try store.makeAction(TweakKey("Spring", "Drawing", "Clear")) { canvas.clear() }
    ///     try store.run(clear.key)
    ///     clear.remove()
    ///
    /// - Parameters:
    ///   - key: The name.
    ///   - title: The name that people see.
    ///   - description: A description for people.
    ///   - group: The heading under which people see the action.
    ///   - owner: The person or team responsible.
    ///   - body: The closure, which runs on the thread that calls ``run(_:)``, or on a library thread if a
    ///     person requests the action.
    /// - Returns: The registration, for removing the closure. It need not be held.
    /// - Throws: ``TweakError/invalid(_:reason:)`` if the name is invalid, ``TweakError/exists(_:)`` if the
    ///   program has a tweak with a value of this name.
    @discardableResult
    public func makeAction(
        _ key: TweakKey, title: String? = nil, description: String? = nil, group: String? = nil,
        owner: String? = nil,
        _ body: @escaping @Sendable () -> Void
    ) throws(TweakError) -> TweakAction {
        try makeAction(
            key, (title, description, group, owner), ActionClosure(handsTo: nil) { _ in body() })
    }

    /// Makes an action that runs on the main actor; see ``makeAction(_:title:description:group:owner:_:)``.
    ///
    ///     try store.makeAction(TweakKey("Game", "Play", "Start again"), on: MainActor.self) { board.clear() }
    ///
    /// ``run(_:)`` returns once the closure has been handed to the main actor.
    ///
    /// - Parameters:
    ///   - key: The name.
    ///   - title: The name that people see.
    ///   - description: A description for people.
    ///   - group: The heading under which people see the action.
    ///   - owner: The person or team responsible.
    ///   - actor: `MainActor.self`.
    ///   - body: The closure to run.
    /// - Returns: The registration, for removing the closure. It need not be held.
    /// - Throws: ``TweakError/invalid(_:reason:)`` if the name is invalid, ``TweakError/exists(_:)`` if the
    ///   program has a tweak with a value of this name.
    @discardableResult
    public func makeAction(
        _ key: TweakKey, title: String? = nil, description: String? = nil, group: String? = nil,
        owner: String? = nil, on actor: MainActor.Type,
        _ body: @escaping @MainActor @Sendable () -> Void
    ) throws(TweakError) -> TweakAction {
        try makeAction(
            key, (title, description, group, owner),
            ActionClosure(handsTo: "mainActor") { run in
                Task { @MainActor in
                    body()
                    run.end()
                }
            })
    }

    /// Makes an action that runs on an actor; see ``makeAction(_:title:description:group:owner:_:)``.
    ///
    ///     try store.makeAction(TweakKey("Game", "Play", "Start again"), on: simulation) { $0.clear() }
    ///
    /// ``run(_:)`` returns once the closure has been handed to the actor. The action does not retain the
    /// actor; once it is gone, nothing runs.
    ///
    /// - Parameters:
    ///   - key: The name.
    ///   - title: The name that people see.
    ///   - description: A description for people.
    ///   - group: The heading under which people see the action.
    ///   - owner: The person or team responsible.
    ///   - actor: The actor that runs the closure.
    ///   - body: The closure to run, which gets the actor.
    /// - Returns: The registration, for removing the closure. It need not be held.
    /// - Throws: ``TweakError/invalid(_:reason:)`` if the name is invalid, ``TweakError/exists(_:)`` if the
    ///   program has a tweak with a value of this name.
    @discardableResult
    public func makeAction<Isolation: Actor>(
        _ key: TweakKey, title: String? = nil, description: String? = nil, group: String? = nil,
        owner: String? = nil, on actor: Isolation,
        _ body: @escaping @Sendable (isolated Isolation) -> Void
    ) throws(TweakError) -> TweakAction {
        try makeAction(
            key, (title, description, group, owner),
            ActionClosure(handsTo: "actor") { [weak actor] run in
                Task {
                    let done: Void? = await actor?.run { body($0) }
                    run.end(isLost: done == nil)
                }
            })
    }

    /// Makes an action at run time, or adds a closure to an existing one, from the three levels of its name.
    ///
    ///     let clear = try store.makeAction("Spring", "Drawing", "Clear") { canvas.clear() }
    ///     try store.run(clear.key)
    ///     clear.remove()
    ///
    /// - Parameters:
    ///   - category: The first level of the name.
    ///   - collection: The second level.
    ///   - name: The third level.
    ///   - title: The name that people see.
    ///   - description: A description for people.
    ///   - group: The heading under which people see the action.
    ///   - owner: The person or team responsible.
    ///   - body: The closure, which runs on the thread that calls ``run(_:)``, or on a library thread if a
    ///     person requests the action.
    /// - Returns: The registration, for removing the closure. It need not be held.
    /// - Throws: ``TweakError/invalid(_:reason:)`` if the name is invalid, ``TweakError/exists(_:)`` if the
    ///   program has a tweak with a value of this name.
    @_alwaysEmitIntoClient @discardableResult
    public func makeAction(
        _ category: String, _ collection: String, _ name: String, title: String? = nil,
        description: String? = nil, group: String? = nil, owner: String? = nil,
        _ body: @escaping @Sendable () -> Void
    ) throws(TweakError) -> TweakAction {
        try makeAction(
            TweakKey(category, collection, name), title: title, description: description, group: group,
            owner: owner, body)
    }

    /// Makes an action that runs on the main actor, from the three levels of its name; see
    /// ``makeAction(_:_:_:title:description:group:owner:_:)``.
    ///
    ///     try store.makeAction("Game", "Play", "Start again", on: MainActor.self) { board.clear() }
    ///
    /// ``run(_:)`` returns once the closure has been handed to the main actor.
    ///
    /// - Parameters:
    ///   - category: The first level of the name.
    ///   - collection: The second level.
    ///   - name: The third level.
    ///   - title: The name that people see.
    ///   - description: A description for people.
    ///   - group: The heading under which people see the action.
    ///   - owner: The person or team responsible.
    ///   - actor: `MainActor.self`.
    ///   - body: The closure to run.
    /// - Returns: The registration, for removing the closure. It need not be held.
    /// - Throws: ``TweakError/invalid(_:reason:)`` if the name is invalid, ``TweakError/exists(_:)`` if the
    ///   program has a tweak with a value of this name.
    @_alwaysEmitIntoClient @discardableResult
    public func makeAction(
        _ category: String, _ collection: String, _ name: String, title: String? = nil,
        description: String? = nil, group: String? = nil, owner: String? = nil, on actor: MainActor.Type,
        _ body: @escaping @MainActor @Sendable () -> Void
    ) throws(TweakError) -> TweakAction {
        try makeAction(
            TweakKey(category, collection, name), title: title, description: description, group: group,
            owner: owner, on: actor, body)
    }

    /// Makes an action that runs on an actor, from the three levels of its name; see
    /// ``makeAction(_:_:_:title:description:group:owner:_:)``.
    ///
    ///     try store.makeAction("Game", "Play", "Start again", on: simulation) { $0.clear() }
    ///
    /// ``run(_:)`` returns once the closure has been handed to the actor. The action does not retain the
    /// actor; once it is gone, nothing runs.
    ///
    /// - Parameters:
    ///   - category: The first level of the name.
    ///   - collection: The second level.
    ///   - name: The third level.
    ///   - title: The name that people see.
    ///   - description: A description for people.
    ///   - group: The heading under which people see the action.
    ///   - owner: The person or team responsible.
    ///   - actor: The actor that runs the closure.
    ///   - body: The closure to run, which gets the actor.
    /// - Returns: The registration, for removing the closure. It need not be held.
    /// - Throws: ``TweakError/invalid(_:reason:)`` if the name is invalid, ``TweakError/exists(_:)`` if the
    ///   program has a tweak with a value of this name.
    @_alwaysEmitIntoClient @discardableResult
    public func makeAction<Isolation: Actor>(
        _ category: String, _ collection: String, _ name: String, title: String? = nil,
        description: String? = nil, group: String? = nil, owner: String? = nil, on actor: Isolation,
        _ body: @escaping @Sendable (isolated Isolation) -> Void
    ) throws(TweakError) -> TweakAction {
        try makeAction(
            TweakKey(category, collection, name), title: title, description: description, group: group,
            owner: owner, on: actor, body)
    }

    @inline(never)
    private func makeAction(
        _ key: TweakKey, _ texts: (title: String?, description: String?, group: String?, owner: String?),
        _ closure: ActionClosure
    ) throws(TweakError) -> TweakAction {
        let texts = [
            ("title", texts.title), ("doc", texts.description), ("group", texts.group),
            ("owner", texts.owner),
        ]
        let declaration = try TweakDeclaration(
            key: key, type: .action, defaultValue: .nothing, attributes: attributes(texts)
        ).checked()
        _ = try makeHandle(declaration, closure.function) { $0.closures[closure.number] = closure }
        return TweakAction(key, closure, in: self)
    }

    /// Returns the attributes for the texts that are not `nil`.
    private func attributes(_ texts: [(key: String, text: String?)]) -> [TweakDeclaration.Attribute] {
        texts.compactMap { key, text in text.map { TweakDeclaration.Attribute(key: key, value: $0) } }
    }
}

/// The limits of a tweak's values, as a range with one or both ends.
public protocol TweakLimits<Bound> {
    /// The type of the values.
    associatedtype Bound: TweakableValue
    /// The minimum; `nil` if only the type limits the values.
    var tweakMinimum: Bound? { get }
    /// The maximum; `nil` if only the type limits the values.
    var tweakMaximum: Bound? { get }
}

extension ClosedRange: TweakLimits where Bound: TweakableValue {
    /// The minimum: the range's lower bound.
    public var tweakMinimum: Bound? { lowerBound }
    /// The maximum: the range's upper bound.
    public var tweakMaximum: Bound? { upperBound }
}

extension PartialRangeFrom: TweakLimits where Bound: TweakableValue {
    /// The minimum: the range's lower bound.
    public var tweakMinimum: Bound? { lowerBound }
    /// `nil`: no upper bound.
    public var tweakMaximum: Bound? { nil }
}

extension PartialRangeThrough: TweakLimits where Bound: TweakableValue {
    /// `nil`: no lower bound.
    public var tweakMinimum: Bound? { nil }
    /// The maximum: the range's upper bound.
    public var tweakMaximum: Bound? { upperBound }
}
