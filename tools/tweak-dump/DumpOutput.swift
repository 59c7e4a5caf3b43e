import CommandSupport
import TweakELF
import TweakProtocol
import TweakRecords

extension Report {
    fileprivate func tell(_ error: RecordError, of image: ImageDump) {
        printProblem("\(image.path): \(error)")
    }
}

/// Writes a table for each object.
final class TableReport: Report {
    /// The two upper levels of a name, under which a table has tweaks.
    private struct Group: Hashable, Comparable {
        let category, collection: String

        static func < (left: Group, right: Group) -> Bool {
            (left.category, left.collection) < (right.category, right.collection)
        }
    }

    func add(_ image: ImageDump, isShownEmpty: Bool) -> Bool {
        var isInvalid = false
        var columns = TextColumns(
            header: ["NAME", "TYPE", "DEFAULT", "LIMITS", "NOTES", "DECLARED AT", "DESCRIPTION"],
            optional: ["NOTES", "DESCRIPTION"], isIndented: true)
        var groups: [Group: Int] = [:]
        var tweaks: [(group: Int, place: ImageDump.Place)] = []
        image.forEachTweak(invalid: {
            isInvalid = true
            tell($0, of: image)
        }) { tweak, place in
            columns.measure(tweak.cells)
            let next = groups.count
            let group = Group(category: tweak.key.category, collection: tweak.key.collection)
            tweaks.append((groups[group, default: next], place))
            groups[group] = tweaks.last?.group
        }
        let build = image.buildID.map { ", build id \($0)" } ?? ""
        let title = "\(printable(image.path)) (\(image.architecture)\(build))"
        guard !tweaks.isEmpty else {
            if isShownEmpty { print("\(title): no tweaks") }
            return isInvalid
        }
        print(title)
        print(columns.header)
        // By name; those of a group in the order of their records.
        var ranks = [Int](repeating: 0, count: groups.count)
        for (rank, group) in groups.sorted(by: { $0.key < $1.key }).enumerated() { ranks[group.value] = rank }
        var last: Int?
        for index in tweaks.indices.sorted(by: {
            (ranks[tweaks[$0].group], $0) < (ranks[tweaks[$1].group], $1)
        }) {
            guard let tweak = image.tweak(at: tweaks[index].place) else { continue }
            if tweaks[index].group != last { print(columns.heading(tweak.heading)) }
            last = tweaks[index].group
            print(columns.line(tweak.cells))
        }
        return isInvalid
    }

    func finish() {}
}

extension TweakDeclaration {
    fileprivate var cells: [String] {
        [
            key.name, "\(type)", text(of: defaultValue, rounded: true), limits, notes, location ?? "",
            description ?? "",
        ]
    }
}

/// Writes one document of JSON. Its keys are a promise to scripts.
final class JSONReport: Report {
    private var images = JSONArrayOutput(after: "{\n  \"images\" : ", depth: 1)

    func add(_ image: ImageDump, isShownEmpty: Bool) -> Bool {
        var isInvalid = false
        var tweaks = isShownEmpty ? begin(image) : nil
        image.forEachTweak(invalid: {
            isInvalid = true
            tell($0, of: image)
        }) { tweak, _ in
            if tweaks == nil { tweaks = begin(image) }
            // Every declaration has a form in JSON.
            try? tweaks?.add(JSONTweak(tweak))
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
