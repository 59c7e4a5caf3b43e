// SPDX-License-Identifier: BSD-3-Clause
#if Configuration
internal import Configuration
internal import TweakRecords
internal import Tweaks

// Tweaks have no lists and no bytes: lists are strings with commas between the elements, bytes are in Base64, as in the
// environment provider of swift-configuration.

extension ConfigContent {
    /// Converts a tweak's value; `nil` if the value has another type.
    init?(_ value: TweakValue, as type: ConfigType) {
        switch (type, value) {
        case (.bool, .bool(let flag)): self = .bool(flag)
        case (.int, .integer(let number)):
            guard let number = Int(exactly: number) else { return nil }
            self = .int(number)
        case (.double, .double(let number)): self = .double(number)
        case (.double, .integer(let number)): self = .double(Double(number))
        case (.string, .string(let text)): self = .string(text)
        case (.string, .color(let color)): self = .string("\(color)")
        case (_, .string(let text)): self.init(text, as: type)
        default: return nil
        }
    }

    private init?(_ text: String, as type: ConfigType) {
        func elements<Element>(_ element: (String) -> Element?) -> [Element]? {
            let parts = text.isEmpty ? [] : text.split(separator: ",", omittingEmptySubsequences: false)
            let elements = parts.compactMap { element(String($0)) }
            return elements.count == parts.count ? elements : nil
        }
        let content: ConfigContent? =
            switch type {
            case .bytes: Base64.bytes(of: text).map { .bytes($0) }
            case .stringArray: elements { $0 }.map { .stringArray($0) }
            case .intArray: elements { Int($0) }.map { .intArray($0) }
            case .doubleArray: elements { Double($0) }.map { .doubleArray($0) }
            case .boolArray: elements { Bool($0) }.map { .boolArray($0) }
            case .byteChunkArray: elements(Base64.bytes).map { .byteChunkArray($0) }
            case .string, .int, .double, .bool: nil
            }
        guard let content else { return nil }
        self = content
    }

    /// The value of a tweak; `nil` if a list element contains a comma.
    var tweakValue: TweakValue? {
        switch self {
        case .bool(let flag): return .bool(flag)
        case .int(let number): return .integer(Int128(number))
        case .double(let number): return .double(number)
        case .string(let text): return .string(text)
        case .bytes(let bytes): return .string(Base64.text(of: bytes))
        case .stringArray(let texts):
            return texts.contains { $0.contains(",") } ? nil : .string(texts.joined(separator: ","))
        case .intArray(let numbers): return list(numbers)
        case .doubleArray(let numbers): return list(numbers)
        case .boolArray(let flags): return list(flags)
        case .byteChunkArray(let chunks): return list(chunks.map(Base64.text))
        }
    }

    private func list(_ elements: [some CustomStringConvertible]) -> TweakValue {
        .string(elements.map(\.description).joined(separator: ","))
    }
}

extension TweakType {
    /// The type for reading a tweak of this type.
    var configType: ConfigType? {
        switch self {
        case .bool: .bool
        case .float, .double: .double
        case .string, .color: .string
        case .action: nil
        default: .int
        }
    }
}
#endif
