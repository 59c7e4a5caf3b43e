extension TweakDeclaration.Attribute {
    /// Reads `key=value`, or a `key` alone.
    package init(text: String) {
        // By scalars: an equals sign before a combining mark is one Character with it.
        let parts = text.unicodeScalars.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        self.init(key: String(parts[0]), value: parts.count == 2 ? String(parts[1]) : "")
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
