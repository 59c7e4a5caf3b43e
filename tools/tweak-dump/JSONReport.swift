import CommandSupport
import TweakProtocol

/// Writes one document of JSON. Its keys are a promise to scripts.
final class JSONReport: Report {
    private var images = JSONArrayOutput(after: "{\n  \"images\" : ", depth: 1)

    func add(_ image: ImageDump, isShownEmpty: Bool) -> Bool {
        var isInvalid = false
        var tweaks = isShownEmpty ? begin(image) : nil
        image.forEachTweak(invalid: {
            isInvalid = true
            tell($0, of: image)
        }) { tweak in
            if tweaks == nil { tweaks = begin(image) }
            // Every declaration has a form in JSON.
            try? tweaks?.add(JSONTweak(tweak.declaration, value: tweak.value))
        }
        tweaks?.end(before: "\n    }")
        return isInvalid
    }

    private func begin(_ image: ImageDump) -> JSONArrayOutput {
        images.beginElement()
        let members = [
            "\"architecture\" : \(jsonText(image.architecture))",
            "\"buildID\" : \(image.buildID.map(jsonText) ?? "null")", "\"path\" : \(jsonText(image.path))",
            "\"tweaks\" : ",
        ]
        return JSONArrayOutput(after: "    {\n      " + members.joined(separator: ",\n      "), depth: 3)
    }

    func finish() { images.end(before: "\n}\n") }
}
