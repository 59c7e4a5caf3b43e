// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

/// An archive of Foundation's `NSKeyedArchiver`: a list of objects that refer to each other by number.
///
///     { "$top": { "root": 1 }, "$objects": ["$null", { "$class": 2, "name": 3 }, { "$classname": "FBTweak" }, "Mass"] }
struct KeyedArchive {
    private let objects: [PropertyList]
    private let top: PropertyList

    /// Creates an archive from a property list; `nil` if that is not an archive.
    init?(_ list: PropertyList) {
        guard case .array(let objects)? = list["$objects"], let top = list["$top"] else { return nil }
        self.objects = objects
        self.top = top
    }

    /// The archived root object.
    var root: PropertyList? { object(top["root"]) }

    /// The object that a member refers to, or `nil`.
    func object(_ reference: PropertyList?) -> PropertyList? {
        guard let index = index(reference), index != 0, objects.indices.contains(index) else { return nil }
        return objects[index]
    }

    func text(_ reference: PropertyList?) -> String? {
        guard case .string(let text)? = object(reference).flatMap(value) else { return nil }
        return text
    }

    func className(of object: PropertyList) -> String? {
        guard case .scalar(.string(let name))? = self.object(object["$class"])?["$classname"] else {
            return nil
        }
        return name
    }

    /// Calls a function for each element of an array. Arrays and elements that were visited before are skipped, because
    /// a damaged archive may contain cycles.
    func forEachElement(
        _ array: PropertyList?, visited: inout Set<Int>, _ body: (PropertyList, inout Set<Int>) -> Void
    ) {
        guard let place = index(array), visited.insert(place).inserted,
            case .array(let elements)? = object(array)?["NS.objects"]
        else { return }
        for element in elements {
            guard let place = index(element), visited.insert(place).inserted, let object = object(element)
            else { continue }
            body(object, &visited)
        }
    }

    private func index(_ reference: PropertyList?) -> Int? {
        guard case .scalar(.integer(let index))? = reference?[PropertyList.referenceKey] ?? reference else {
            return nil
        }
        return Int(exactly: index)
    }

    /// The tweak value of an object; `nil` for other objects.
    func value(of object: PropertyList) -> TweakValue? {
        switch object {
        case .scalar(let value): return value
        case .dictionary:
            if case .scalar(let text)? = object["NS.string"] { return text }
            return color(of: object).map { .color($0) }
        default: return nil
        }
    }

    // MARK: - Colours

    /// A `UIColor` or `NSColor` in RGB or grey, with components from 0 to 1 as numbers or strings.
    private func color(of object: PropertyList) -> TweakColor? {
        guard let name = className(of: object), name.hasSuffix("Color") else { return nil }
        func number(_ component: String) -> Double? {
            switch object["UI\(component)-Double"] ?? object["UI\(component)"] {
            case .scalar(.double(let number)): number
            case .scalar(.integer(let number)): Double(number)
            default: nil
            }
        }
        func numbers(_ key: String) -> [Double] {
            guard case .data(let bytes)? = object[key] else { return [] }
            // Four numbers fit, and many colours may share the same data.
            let text = String(decoding: bytes.prefix(256).prefix { $0 != 0 }, as: UTF8.self)
            return text.split(separator: " ").compactMap { Double($0) }
        }
        let rgb = numbers("NSRGB")
        let grey = numbers("NSWhite")
        if let red = number("Red"), let green = number("Green"), let blue = number("Blue") {
            return Self.color(red, green, blue, number("Alpha"))
        } else if let white = number("White") {
            return Self.color(white, white, white, number("Alpha"))
        } else if rgb.count >= 3 {
            return Self.color(rgb[0], rgb[1], rgb[2], rgb.dropFirst(3).first)
        }
        return grey.first.map { Self.color($0, $0, $0, grey.dropFirst().first) }
    }

    private static func color(_ red: Double, _ green: Double, _ blue: Double, _ alpha: Double?) -> TweakColor
    {
        func byte(_ component: Double) -> UInt8 {
            UInt8(exactly: (min(max(component, 0), 1) * 255).rounded()) ?? 0
        }
        return TweakColor(
            red: byte(red), green: byte(green), blue: byte(blue), alpha: byte(alpha ?? 1))
    }
}
