// SPDX-License-Identifier: BSD-3-Clause
#if UI
import Crypto
import TweakClient
internal import TweakFormats
import TweakJSON
import TweakProtocol
import TweakRecords

/// A snapshot of a program's tweaks as an OFREP client sees them.
///
/// A flag is a settable tweak and has its name. A collection or a category, named by one or two levels, is an object of
/// its tweaks.
///
/// Source: OFREP 0.3, `evaluationSuccess` and `evaluationFailure` in the OpenAPI document.
struct Flags: Sendable {
    private let known: KnownTweaks
    /// All flags as a JSON array.
    let all: [UInt8]
    /// The entity tag of these flags. It differs between runs, because other parts of the answer do too.
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

    /// The evaluation of a key, or `nil`.
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

/// The evaluation of a flag, or the reason why it has no value.
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
            "\(declaration.key)", tweak.flagValue, sources: [tweak.source ?? Self.unset],
            metadata: metadata)
    }

    fileprivate init(_ key: String, _ tweaks: [JSONTweak], isCategory: Bool) {
        var collections: [ByteText: JSONObject] = [:]
        for tweak in tweaks {
            let key = tweak.declaration.key
            if let own = tweak.flagValue {
                collections[ByteText(key.collection), default: [:]][key.name] = own
            }
        }
        let value = isCategory ? collections.mapValues { .object($0) } : collections.values.first ?? [:]
        self.init(key, .object(value), sources: Set(tweaks.map { $0.source ?? Self.unset }), metadata: [:])
    }

    private static let unset = "\(TweakSource.binary)"

    /// - Parameter sources: The providers of the value, or of the values in it.
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

    /// Makes an error.
    init(error code: String, _ details: String, key: String? = nil) {
        var members = key.map { [("key", text($0))] } ?? []
        members += [("errorCode", text(code)), ("errorDetails", text(details))]
        self.init(json: object(members), isError: true)
    }
}

extension JSONTweak {
    /// Whether people set its value. Monitors change all the time, and actions have no value.
    fileprivate var isFlag: Bool { declaration.type != .action && !declaration.isMonitor }

    /// The value; `nil` for none of an optional tweak, with which an SDK takes the default of the caller.
    fileprivate var flagValue: JSONValue? {
        (declaration.isOptional ? value?.outOfOptional : value).map { .scalar($0) }
    }
}

private func text(_ text: String) -> [UInt8] { JSONValue.scalar(.string(text)).json() }

/// A JSON object whose members are encoded already.
func object(_ members: [(String, [UInt8])]) -> [UInt8] {
    var json: [UInt8] = [UInt8(ascii: "{")]
    for (name, value) in members {
        if json.count > 1 { json.append(UInt8(ascii: ",")) }
        json += text(name) + [UInt8(ascii: ":")] + value
    }
    return json + [UInt8(ascii: "}")]
}

/// JSON in which every double has a fraction, so that SDKs can tell it from an integer.
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
