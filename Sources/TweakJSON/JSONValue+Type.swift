package import TweakRecords

extension JSONValue {
    /// The value as a tweak of a type has it, also if it is an infinity or NaN, which are texts in JSON. It may be
    /// outside the limits.
    package func value(of type: TweakType) -> TweakValue? {
        switch (type, self) {
        case (.action, .null): return .nothing
        case (.float, .scalar(.string(let text))), (.double, .scalar(.string(let text))):
            return Double(text).flatMap { $0.isFinite ? nil : .double($0) }
        default:
            let tweak = TweakDeclaration(key: TweakKey("", "", ""), type: type, defaultValue: .nothing)
            return tweakValue.flatMap { try? tweak.admit($0).value }
        }
    }
}

extension TweakDeclaration {
    /// Checks a value of JSON against the type and the limits or choices.
    package func admit(_ json: JSONValue) throws(TweakValueError) -> Admission {
        guard let value = json.tweakValue else { throw .wrongType(self, given: json.summary) }
        return try admit(value)
    }
}
