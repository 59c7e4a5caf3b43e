// SPDX-License-Identifier: BSD-3-Clause
internal import TweakJSON
internal import TweakRecords

/// Collects overrides from a file of an older system.
struct OverridesImporter {
    private let systems: Set<OlderSystem>
    private let names: ImportedNames
    private(set) var overrides: [TweakKey: ImportedOverrides.Override] = [:]
    private(set) var problems: [ImportedOverrides.Problem] = []

    init(systems: Set<OlderSystem>, known: [TweakKey]) {
        self.systems = systems
        names = ImportedNames(known: known)
    }

    mutating func read(_ bytes: [UInt8], path: String) throws(FormatError) {
        let isJSON = bytes.firstVisible == UInt8(ascii: "{")
        let list: PropertyList
        if isJSON {
            list = PropertyList(
                try PlacedParser.read(bytes, path: path) { (file) throws(FormatError) in try file.value() })
        } else {
            list = try PropertyList(bytes, path: path)
        }
        let entries = try list.dictionary(path: path)
        if let archive = KeyedArchive(list) {
            try add(archive, path: path, byteCount: bytes.count)
        } else {
            for (entry, value) in entries.sorted(by: { $0.key < $1.key }) {
                if let system = systems.first(where: { entry.text.hasPrefix($0.keyPrefix) }) {
                    add(value, entry.text, of: system)
                } else if isJSON, systems.contains(.facebookTweaks) {
                    add(category: entry.text, value)
                }
            }
            guard !overrides.isEmpty || !problems.isEmpty else {
                let names = OlderSystem.allCases.filter(systems.contains).map { $0.rawValue }
                throw .malformed(path: path, reason: "it has no values of \(names.joined(separator: " or "))")
            }
        }
    }

    // MARK: - The user's defaults

    private mutating func add(_ value: PropertyList, _ entry: String, of system: OlderSystem) {
        let name = String(entry.dropFirst(system.keyPrefix.count))
        let value = Self.value(value)
        if system == .flipTheSwitch {
            guard case .bool? = value else {
                return problem(entry, "it is neither true nor false")
            }
        }
        switch system {
        case .facebookTweaks: set(value, entry, names.keysOfFacebookTweak(name))
        case .flipTheSwitch: set(value, entry, names.keysOfFeature(name))
        case .justTweak: set(value, entry, names.keysOfVariable(name))
        }
    }

    private mutating func set(
        _ value: TweakValue?, _ entry: String, _ keys: Result<[TweakKey], ImportedNames.Unclear>
    ) {
        guard let value, value != .nothing else {
            return problem(entry, "it is not a Bool, number, text or colour")
        }
        switch keys {
        case .failure(let unclear): problem(entry, unclear.reason)
        case .success(let keys):
            for key in keys {
                if let other = overrides[key] {
                    problem(entry, "\(key) has its value from \(other.entry)")
                } else {
                    overrides[key] = ImportedOverrides.Override(key: key, value: value, entry: entry)
                }
            }
        }
    }

    private mutating func problem(_ entry: String, _ reason: String) {
        problems.append(ImportedOverrides.Problem(entry: entry, reason: reason))
    }

    /// The value of an entry in the user defaults, some of which are archived.
    private static func value(_ value: PropertyList) -> TweakValue? {
        switch value {
        case .scalar(let value): return value
        case .data(let bytes):
            guard let list = try? PropertyList(bytes, path: ""), let archive = KeyedArchive(list) else {
                return nil
            }
            return archive.root.flatMap(archive.value)
        default: return nil
        }
    }

    // MARK: - Facebook's nested forms

    private mutating func add(category: String, _ collections: PropertyList) {
        guard case .dictionary(let collections) = collections else { return }
        for (collection, tweaks) in collections.sorted(by: { $0.key < $1.key }) {
            guard case .dictionary(let tweaks) = tweaks else { continue }
            for (name, value) in tweaks.sorted(by: { $0.key < $1.key }) {
                let key = TweakKey(category, collection.text, name.text)
                set(Self.value(value), "\(key)", .success([key]))
            }
        }
    }

    private mutating func add(
        _ archive: KeyedArchive, path: String, byteCount: Int
    ) throws(FormatError) {
        guard let store = archive.root, archive.className(of: store) == "FBTweakStore" else {
            throw .malformed(path: path, reason: "it is a keyed archive, but not of an FBTweakStore")
        }
        guard systems.contains(.facebookTweaks) else { return }
        var values: [(key: TweakKey, value: TweakValue?)] = []
        var visited: Set<Int> = []
        // All tweaks may refer to the same text, which the file contains once.
        var readable = 64 * byteCount
        archive.forEachElement(store["categories"], visited: &visited) { category, visited in
            archive.forEachElement(category["collections"], visited: &visited) { collection, visited in
                archive.forEachElement(collection["tweaks"], visited: &visited) { tweak, _ in
                    guard let current = archive.object(tweak["currentValue"]),
                        let categoryName = archive.text(category["name"]),
                        let collectionName = archive.text(collection["name"]),
                        let name = archive.text(tweak["name"])
                    else { return }
                    let value = archive.value(of: current)
                    let texts = [categoryName, collectionName, name, value?.description ?? ""]
                    readable -= texts.reduce(0) { $0 + $1.utf8.count }
                    guard readable >= 0 else { return }
                    values.append((TweakKey(categoryName, collectionName, name), value))
                }
            }
        }
        guard readable >= 0 else {
            throw .malformed(path: path, reason: "its tweaks repeat a long text too often")
        }
        for (key, value) in values { set(value, "\(key)", .success([key])) }
    }
}

extension PropertyList {
    fileprivate init(_ json: JSONValue) {
        self =
            switch json {
            case .null: .other
            case .scalar(let value): .scalar(value)
            case .array(let array): .array(array.map(PropertyList.init))
            case .object(let object): .dictionary(object.mapValues(PropertyList.init))
            }
    }
}
