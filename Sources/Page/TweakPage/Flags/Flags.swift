#if UI
import Crypto
import TweakClient
import TweakJSON
import TweakProtocol
import TweakRecords

/// The tweaks of a program as an OFREP client sees them, at one moment.
///
/// A flag is a tweak that has a value which people set, and is named as the tweak is. A collection or a category, named with
/// one or two levels, is an object of its tweaks.
///
/// Source: OFREP 0.3, `evaluationSuccess` and `evaluationFailure` in the OpenAPI document.
struct Flags: Sendable {
    private let known: KnownTweaks
    /// All tweaks that are flags, as an array of JSON.
    let all: [UInt8]
    /// By which a client sees that nothing has changed. It is another one in each run, as are other parts of an answer.
    let tag: String

    init(_ known: KnownTweaks, run: String) {
        self.known = known
        var all: [UInt8] = [UInt8(ascii: "[")]
        for tweak in known.all where tweak.isFlag {
            if all.count > 1 { all.append(UInt8(ascii: ",")) }
            all += Evaluation(tweak).json
        }
        self.all = all + [UInt8(ascii: "]")]
        let digest = SHA256.hash(data: Array(run.utf8) + self.all).prefix(12)
        tag = "\"" + digest.hexadecimal + "\""
    }

    /// What a key stands for; `nil` if there is nothing.
    func evaluation(of key: String) -> Evaluation? {
        if let tweak = TweakKey(key).flatMap({ known[$0] }) { return tweak.isFlag ? Evaluation(tweak) : nil }
        guard let name = try? TweakName(key), name.count < 3 else { return nil }
        let isCategory = name.count == 1
        let (category, collection) =
            isCategory ? (name.levels.name, nil) : (name.levels.collection, name.levels.name)
        let scope = TweakScope.group(category: category, collection: collection)
        let tweaks = known.all.filter { $0.isFlag && scope.contains($0.declaration.key) }
        return tweaks.isEmpty ? nil : Evaluation(key, tweaks, isCategory: isCategory)
    }
}

/// What a flag is, or why it is nothing.
struct Evaluation {
    let json: [UInt8]
    let isError: Bool

    fileprivate init(_ tweak: JSONTweak) {
        let declaration = tweak.declaration
        var metadata: JSONObject = [:]
        for (name, text) in [("title", declaration.title), ("description", declaration.description)] {
            if let text { metadata[name] = .scalar(.string(text)) }
        }
        self.init(
            "\(declaration.key)", tweak.value.map { .scalar($0) }, sources: [tweak.source ?? Self.unset],
            metadata: metadata)
    }

    fileprivate init(_ key: String, _ tweaks: [JSONTweak], isCategory: Bool) {
        var collections: [ByteText: JSONObject] = [:]
        for tweak in tweaks {
            let key = tweak.declaration.key
            if let own = tweak.value {
                collections[ByteText(key.collection), default: [:]][key.name] = .scalar(own)
            }
        }
        let value = isCategory ? collections.mapValues { .object($0) } : collections.values.first ?? [:]
        self.init(key, .object(value), sources: Set(tweaks.map { $0.source ?? Self.unset }), metadata: [:])
    }

    private static let unset = "\(TweakSource.binary)"

    /// - Parameter sources: Who has given the value, or the values in it.
    private init(_ key: String, _ value: JSONValue?, sources: Set<String>, metadata: JSONObject) {
        guard value.map(isInJSON) ?? true else {
            self.init(error: "GENERAL", "JSON does not have this value, an infinity or none at all", key: key)
            return
        }
        var metadata = metadata
        metadata["provider"] = .scalar(.string(sources.sorted().joined(separator: ", ")))
        var members: [(String, [UInt8])] = [("key", text(key))]
        if let value { members.append(("value", flagJSON(value))) }
        members.append(("reason", text(sources == [Self.unset] ? "DEFAULT" : "STATIC")))
        members.append(("variant", text(sources.count == 1 ? sources.first ?? "" : "mixed")))
        members.append(("metadata", JSONValue.object(metadata).json()))
        self.init(json: object(members), isError: false)
    }

    private init(json: [UInt8], isError: Bool) { (self.json, self.isError) = (json, isError) }

    /// An answer that is an error.
    init(error code: String, _ details: String, key: String? = nil) {
        var members = key.map { [("key", text($0))] } ?? []
        members += [("errorCode", text(code)), ("errorDetails", text(details))]
        self.init(json: object(members), isError: true)
    }
}

extension JSONTweak {
    /// Whether it has a value that people set: what a program measures changes without end, and actions have none.
    fileprivate var isFlag: Bool { declaration.type != .action && !declaration.isMonitor }
}

private func text(_ text: String) -> [UInt8] { JSONValue.scalar(.string(text)).json() }

/// An object whose members are JSON already.
func object(_ members: [(String, [UInt8])]) -> [UInt8] {
    var json: [UInt8] = [UInt8(ascii: "{")]
    for (name, value) in members {
        if json.count > 1 { json.append(UInt8(ascii: ",")) }
        json += text(name) + [UInt8(ascii: ":")] + value
    }
    return json + [UInt8(ascii: "}")]
}

/// JSON in which a double has a fraction, be it 0: by that SDKs tell it from an integer.
private func flagJSON(_ value: JSONValue) -> [UInt8] {
    switch value {
    case .scalar(.double(let number)) where number.isFinite: Array("\(number)".utf8)
    case .object(let members):
        object(members.sorted { $0.key < $1.key }.map { ($0.key.text, flagJSON($0.value)) })
    default: value.json()
    }
}

private func isInJSON(_ value: JSONValue) -> Bool {
    switch value {
    case .scalar(.double(let number)): number.isFinite
    case .object(let members): members.values.allSatisfy(isInJSON)
    default: true
    }
}
#endif
