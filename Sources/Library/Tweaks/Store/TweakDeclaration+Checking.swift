// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

extension TweakDeclaration {
    /// The declaration in the form of a record: all values have the tweak's type, and choices are among the attributes,
    /// too.
    ///
    /// - Throws: ``TweakError/invalid(_:reason:)`` if the declaration is invalid.
    func checked() throws(TweakError) -> TweakDeclaration {
        if key.category.isEmpty || key.collection.isEmpty || key.name.isEmpty {
            throw .invalid(key, reason: "a category, collection or name cannot be empty")
        }
        let texts = [key.category, key.collection, key.name] + attributes.flatMap { [$0.key, $0.value] }
        guard !texts.contains(where: { $0.utf8.contains(0) }) else {
            throw .invalid(key, reason: "a name or an attribute contains a NUL character")
        }
        var checked = self
        if type != .action {
            checked.defaultValue = try converted(defaultValue, "default")
            if let minimum { checked.minimum = try converted(minimum, "minimum") }
            if let maximum { checked.maximum = try converted(maximum, "maximum") }
            if let step { checked.step = try converted(step, "step") }
            for index in choices.indices {
                checked.choices[index].value = try converted(choices[index].value, "choice")
            }
        }
        if let problem = checked.problem { throw .invalid(key, reason: "\(problem)") }
        if !choices.isEmpty { checked.attributes.removeAll { $0.key == "choice" || $0.key == "label" } }
        checked.attributes.insert(contentsOf: checked.choices.flatMap { $0.attributes }, at: 0)
        return checked
    }

    /// The value converted to the tweak's type, such as 1 to 1.0.
    private func converted(_ value: TweakValue, _ what: String) throws(TweakError) -> TweakValue {
        do throws(TweakValueError) {
            let admission = try TweakDeclaration(
                key: key, type: type, defaultValue: value,
                attributes: attributes.filter { $0.key == "optional" }
            ).admit(value)
            if !admission.wasClamped { return admission.value }
        } catch {}
        throw .invalid(key, reason: "the \(what), \(value.quoted), is not \(type.withArticle)")
    }
}
