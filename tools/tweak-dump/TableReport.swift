// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import TweakRecords

/// Writes a table for each image.
final class TableReport: Report {
    /// The two upper levels of a name, which are the heading in a table.
    private struct Group: Hashable, Comparable {
        let category, collection: String

        static func < (left: Group, right: Group) -> Bool {
            (left.category, left.collection) < (right.category, right.collection)
        }
    }

    /// A tweak, for which there may be several equal records.
    private struct Row {
        let group: Int
        let place: ImageDump.Place
        var count = 1
    }

    private func showEmpty(_ image: ImageDump, _ title: String) {
        let reason =
            image.lacksRecords
            ? "; it uses the Tweaks library, but was compiled without DEBUG or FB_TWEAK_ENABLED=1" : ""
        print("\(title): no \(image.isWhole || image.lacksRecords ? "" : "such ")tweaks\(reason)")
        guard !image.isWhole else { return }
        let (leftOut, nearest) = image.emptiness()
        guard leftOut > 0 else { return }
        let tweaks = leftOut == 1 ? "the tweak does not match" : "none of \(leftOut) tweaks matches"
        printProblem("\(image.path): \(tweaks)" + (nearest.map { "; \($0) would" } ?? ""))
    }

    func addEmptyArchive(_ path: String) { print("\(printable(path)): an archive without members") }

    func add(_ image: ImageDump, isShownEmpty: Bool) -> Bool {
        var columns = TextColumns(
            header: ["NAME", "TYPE", "VALUE", "DEFAULT", "LIMITS", "NOTES", "DECLARED AT", "DESCRIPTION"],
            isIndented: true)
        var groups: [Group: Int] = [:]
        var rows: [Row] = []
        // By everything shown except the location. A hash takes less memory than a record.
        var known: [Int: Int] = [:]
        var locations = Locations()
        let isInvalid = image.forEachTweak {
            tell($0, of: image)
        } _: { tweak in
            let key = tweak.declaration.key
            locations.add(tweak.declaration.location)
            var hasher = Hasher()
            hasher.combine(key)
            hasher.combine(tweak.cells(""))
            if let row = known[hasher.finalize()] {
                rows[row].count += 1
                return
            }
            known[hasher.finalize()] = rows.count
            columns.measure(tweak.cells(""))
            let group = Group(category: key.category, collection: key.collection)
            let number = groups[group, default: groups.count]
            groups[group] = number
            rows.append(Row(group: number, place: tweak.place))
        }
        let (gates, errors) = image.gates()
        for error in errors { tell(error, of: image) }
        for gate in gates { locations.add(gate.location) }
        let build = image.buildID.map { ", build id \($0)" } ?? ""
        let title = "\(printable(image.path)) (\(image.architecture)\(build))"
        guard !rows.isEmpty || !gates.isEmpty else {
            if isShownEmpty { showEmpty(image, title) }
            return isInvalid || !errors.isEmpty
        }
        print(title + (locations.directory.isEmpty ? "" : ", declared in " + printable(locations.directory)))
        func cells(_ tweak: ImageDump.Tweak, _ row: Row) -> [String] {
            let definition = image.definitions?.text(of: tweak.declaration).map { " (\($0))" }
            return tweak.cells(locations.text(of: tweak.declaration, row.count) + (definition ?? ""))
        }
        for row in rows where row.count > 1 || image.definitions != nil {
            if let tweak = image.tweak(at: row.place) { columns.measure(cells(tweak, row)) }
        }
        columns.measure(["", "", "", "", "", "", locations.longest, ""])
        let layout = columns.layout
        if !rows.isEmpty { print(layout.header) }
        // By name; within a group in the order of the records.
        var ranks = [Int](repeating: 0, count: groups.count)
        for (rank, group) in groups.sorted(by: { $0.key < $1.key }).enumerated() { ranks[group.value] = rank }
        var last: Int?
        for index in rows.indices.sorted(by: { (ranks[rows[$0].group], $0) < (ranks[rows[$1].group], $1) }) {
            let row = rows[index]
            guard let tweak = image.tweak(at: row.place) else { continue }
            if row.group != last { print(layout.heading(tweak.declaration.heading)) }
            last = row.group
            print(layout.text(cells(tweak, row)))
        }
        for gate in gates {
            let place = gate.location.map { ", at \(locations.relative($0))" } ?? ""
            print(printable("  gate \(gate.name), \(gate.capacity) stores\(place)"))
        }
        return isInvalid || !errors.isEmpty
    }

    func finish() {}
}

/// The locations of declarations, below their common folder.
private struct Locations {
    /// With the slash at its end; `nil` if there is no location yet.
    private var common: Substring.UTF8View?
    private var longestWhole = ""

    /// Empty if only the root is common.
    var directory: String { common.map { String(decoding: $0.dropLast(), as: UTF8.self) } ?? "" }
    var longest: String { relative(longestWhole) }

    mutating func add(_ location: String?) {
        guard let location else { return }
        if location.utf8.count > longestWhole.utf8.count { longestWhole = location }
        var directory = common ?? location[...].utf8
        while !location.utf8.starts(with: directory) || directory.last != UInt8(ascii: "/") {
            guard let slash = directory.dropLast().lastIndex(of: UInt8(ascii: "/")) else {
                directory = directory.prefix(0)
                break
            }
            directory = directory[...slash]
        }
        common = directory
    }

    /// The location of the first of several equal records.
    func text(of tweak: TweakDeclaration, _ count: Int) -> String {
        tweak.location.map { relative($0) + (count > 1 ? " and \(count - 1) more" : "") } ?? ""
    }

    func relative(_ location: String) -> String {
        directory.isEmpty
            ? location : String(decoding: location.utf8.dropFirst(common?.count ?? 0), as: UTF8.self)
    }
}

extension ImageDump.Tweak {
    fileprivate func cells(_ location: String) -> [String] {
        [
            declaration.key.name, declaration.typeName,
            value.map { declaration.text(of: $0, rounded: true) } ?? "",
            declaration.text(of: declaration.defaultValue, rounded: true), declaration.limits(),
            declaration.notes, location, declaration.description ?? "",
        ]
    }
}
