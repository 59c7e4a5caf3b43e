extension TweakDeclaration.Attribute {
    /// Reads `key=value`, or a `key` alone.
    package init(text: String) {
        // By bytes: an equals sign before a combining mark is one Character with it.
        guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")) else {
            self.init(key: text, value: "")
            return
        }
        self.init(key: String(text[..<equals]), value: String(text[text.utf8.index(after: equals)...]))
    }

    /// The attribute as a record has it.
    package var text: String { value.isEmpty && key != "choice" ? key : "\(key)=\(value)" }
}

extension TweakChoice {
    /// What a record says of the choice in its text.
    package var attributes: [TweakDeclaration.Attribute] {
        let text = if case .string(let text) = value { text } else { "" }
        let choice = TweakDeclaration.Attribute(key: "choice", value: text)
        return [choice] + (label.map { [TweakDeclaration.Attribute(key: "label", value: $0)] } ?? [])
    }
}
