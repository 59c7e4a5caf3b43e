// SPDX-License-Identifier: BSD-3-Clause
public import TweakRecords

/// An element type of array tweaks: `Int`, `Double` or `String`.
public protocol TweakableElement: TweakableValue {}

extension Int: TweakableElement {}
extension Double: TweakableElement {}
extension String: TweakableElement {}

/// An array as the value of a tweak, stored as a string with a JSON array, such as `[80, 443]`.
///
/// The first read of a new value decodes it.
extension Array: TweakableValue where Element: TweakableElement {
    /// The type to record: a string.
    public static var tweakType: TweakType { .string }
    /// The type of the elements.
    public static var tweakElement: TweakType? { Element.tweakType }
    /// Converts a stored string with a JSON array of such elements; `nil` for anything else.
    public init?(tweakValue: TweakValue) {
        guard case .string(let text) = tweakValue, let values = TweakValue.elements(of: text) else {
            return nil
        }
        let elements = values.compactMap { Element(tweakValue: $0) }
        guard elements.count == values.count else { return nil }
        self = elements
    }
    /// The stored form: a string with a JSON array.
    public var tweakValue: TweakValue { TweakValue(elements: map(\.tweakValue)) }
    /// Decodes the string that the cell points to, or copies the array already decoded from it.
    public static func __read(
        _ cell: UnsafeRawPointer, default fallback: @autoclosure () -> [Element]
    ) -> [Element] {
        guard let text = String.__text(cell) else { return fallback() }
        var known: DecodedArray<Element>?
        decodedArrays.withLockIfFree { decoded in
            known = decoded[ByteText(text)].flatMap(UnsafeRawPointer.init(bitPattern:)).flatMap {
                Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() as? DecodedArray<Element>
            }
        }
        if let known { return known.elements }
        guard let elements = [Element](tweakValue: .string(text)) else { return fallback() }
        let object = DecodedArray(elements)
        decodedArrays.withLockIfFree { decoded in
            guard decoded[ByteText(text)] == nil else { return }
            decoded[ByteText(text)] = UInt(bitPattern: Unmanaged.passRetained(object).toOpaque())
        }
        return elements
    }
}

/// The decoded arrays by their texts, as addresses of objects that stay until the process exits.
///
/// A read never waits for the lock. If another thread holds it, or held it when this process was forked, the
/// read decodes the text itself.
private let decodedArrays = Guarded<[ByteText: UInt]>([:])

private final class DecodedArray<Element: TweakableElement>: Sendable {
    let elements: [Element]
    init(_ elements: [Element]) { self.elements = elements }
}

extension TweakStore {
    /// Makes an array tweak at run time, with limits for its elements.
    ///
    ///     let ports = try store.make(TweakKey("Server", "Net", "Ports"), default: [80, 443], in: 1...65535)
    ///
    /// - Parameters:
    ///   - key: The name.
    ///   - default: The default.
    ///   - limits: The minimum and maximum of an element; a range such as `0...` or `...100` has only one.
    ///   - description: A description for people.
    ///   - owner: The person or team responsible.
    ///   - expires: The last day on which the tweak should exist, as `YYYY-MM-DD`.
    ///   - readOnly: Whether the tweak can be seen but not set.
    ///   - needsRestart: Whether a new value takes effect at the program's next start.
    /// - Throws: ``TweakError/invalid(_:reason:)`` if the declaration is invalid, ``TweakError/exists(_:)``
    ///   if the program has a tweak of this name.
    @discardableResult
    public func make<Element: TweakableElement & Comparable>(
        _ key: TweakKey, default: [Element], in limits: some TweakLimits<Element>, description: String? = nil,
        owner: String? = nil, expires: String? = nil, readOnly: Bool = false, needsRestart: Bool = false
    ) throws(TweakError) -> Tweak<[Element]> {
        try make(
            key, `default`,
            element: TweakDeclaration(
                key: key, type: Element.tweakType, defaultValue: .nothing,
                minimum: limits.tweakMinimum?.tweakValue, maximum: limits.tweakMaximum?.tweakValue),
            texts: ["doc": description, "owner": owner, "expires": expires],
            flags: ["read-only": readOnly, "needs-restart": needsRestart])
    }

    /// Makes an array tweak at run time, with limits for its elements, from the three levels of its name.
    ///
    /// - Parameters:
    ///   - category: The first level of the name.
    ///   - collection: The second level.
    ///   - name: The third level.
    ///   - default: The default.
    ///   - limits: The minimum and maximum of an element; a range such as `0...` or `...100` has only one.
    ///   - description: A description for people.
    ///   - owner: The person or team responsible.
    ///   - expires: The last day on which the tweak should exist, as `YYYY-MM-DD`.
    ///   - readOnly: Whether the tweak can be seen but not set.
    ///   - needsRestart: Whether a new value takes effect at the program's next start.
    /// - Throws: ``TweakError/invalid(_:reason:)`` if the declaration is invalid, ``TweakError/exists(_:)``
    ///   if the program has a tweak of this name.
    @discardableResult
    public func make<Element: TweakableElement & Comparable>(
        _ category: String, _ collection: String, _ name: String, default: [Element],
        in limits: some TweakLimits<Element>, description: String? = nil, owner: String? = nil,
        expires: String? = nil, readOnly: Bool = false, needsRestart: Bool = false
    ) throws(TweakError) -> Tweak<[Element]> {
        try make(
            TweakKey(category, collection, name), default: `default`, in: limits, description: description,
            owner: owner, expires: expires, readOnly: readOnly, needsRestart: needsRestart)
    }
}
