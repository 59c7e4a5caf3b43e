// SPDX-License-Identifier: BSD-3-Clause
public import TweakRecords

/// A type of the elements of an array that is a tweak: `Int`, `Double` or `String`.
public protocol TweakableElement: TweakableValue {}

extension Int: TweakableElement {}
extension Double: TweakableElement {}
extension String: TweakableElement {}

/// An array as the value of a tweak, which is stored as a string: a JSON array such as `[80, 443]`.
///
/// The first read of a new value decodes it.
extension Array: TweakableValue where Element: TweakableElement {
    /// The address of a string.
    public static var tweakType: TweakType { .string }
    /// The type of the elements.
    public static var tweakElement: TweakType? { Element.tweakType }
    /// Accepts a string that is a JSON array of such elements.
    public init?(tweakValue: TweakValue) {
        guard case .string(let text) = tweakValue, let values = TweakValue.elements(of: text) else {
            return nil
        }
        let elements = values.compactMap { Element(tweakValue: $0) }
        guard elements.count == values.count else { return nil }
        self = elements
    }
    /// A string.
    public var tweakValue: TweakValue { TweakValue(elements: map(\.tweakValue)) }
    /// Decodes the string that the cell points to, or copies the array that was decoded from it before.
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

/// The arrays that were decoded, by their texts: addresses of objects that stay until the process exits.
///
/// A read never waits for the lock. If another thread holds it, or held it when this process was forked, the read decodes
/// the text.
private let decodedArrays = Guarded<[ByteText: UInt]>([:])

private final class DecodedArray<Element: TweakableElement>: Sendable {
    let elements: [Element]
    init(_ elements: [Element]) { self.elements = elements }
}

extension TweakStore {
    /// Makes a tweak at run time that is an array with limits of its elements.
    ///
    ///     let ports = try store.make(TweakKey("Server", "Net", "Ports"), default: [80, 443], in: 1...65535)
    ///
    /// - Parameters:
    ///   - key: The name.
    ///   - default: The default.
    ///   - limits: The smallest and the largest element, or one of them, as in `0...` and `...100`.
    ///   - description: A description for people.
    ///   - owner: The person or team responsible.
    ///   - expires: The last day on which the tweak should exist, as `YYYY-MM-DD`.
    ///   - readOnly: Whether it is read-only.
    ///   - needsRestart: Whether changes take effect at the next start of the program.
    /// - Throws: ``TweakError/invalid(_:reason:)`` if the declaration is invalid, ``TweakError/exists(_:)`` if the
    ///   program has a tweak of this name.
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

    /// Makes a tweak at run time that is an array with limits of its elements, by the levels of its name.
    ///
    /// - Parameters:
    ///   - category: The first level of the name.
    ///   - collection: The second level.
    ///   - name: The third level.
    ///   - default: The default.
    ///   - limits: The smallest and the largest element, or one of them, as in `0...` and `...100`.
    ///   - description: A description for people.
    ///   - owner: The person or team responsible.
    ///   - expires: The last day on which the tweak should exist, as `YYYY-MM-DD`.
    ///   - readOnly: Whether it is read-only.
    ///   - needsRestart: Whether changes take effect at the next start of the program.
    /// - Throws: ``TweakError/invalid(_:reason:)`` if the declaration is invalid, ``TweakError/exists(_:)`` if the
    ///   program has a tweak of this name.
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
