// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandSupport
import Glibc
import TweakELF
import TweakRecords

/// A rule of `--lint`. Scripts rely on the names.
enum Rule: String, Encodable, ExpressibleByArgument, CaseIterable {
    case differentDeclarations, defaultNotAllowed, expired, invalidRecord, unusableSection
    case similarNames, noDescription, notUTF8, unknownRecord, severalMonitors, ignoredOption, severalGates,
        idleGate, unreadRecord
    /// The rule of `--forbid`.
    case forbiddenRecord

    static var allValueStrings: [String] {
        allCases.filter { $0 != .forbiddenRecord }.map(\.rawValue)
    }

    /// Whether findings of the rule are advice, which fails only on request.
    var isAdvice: Bool { self == .noDescription || self == .similarNames }

    init?(argument: String) {
        guard Self.allValueStrings.contains(argument) else { return nil }
        self.init(rawValue: argument)
    }
}

/// Checks all files of a command line, which count as one program.
final class Lint: Report {
    private(set) var findings: Findings
    /// The attributes that declarations must agree on, and the location.
    private static let kept = Set(
        TweakOption.all.compactMap { $0.purpose == .values || $0.name == "location" ? $0.attribute : nil })
    private let today = utcDay(secondsSince1970: time(nil))
    /// The first declaration of each tweak, without texts for people.
    private var first: [TweakKey: FoundTweak] = [:]
    /// The first tweak of each name, ignoring case and blanks.
    private var firstSpellings: [String: FoundTweak] = [:]
    /// Tweaks that name another one, which may be in a later file.
    private var paired: [(tweak: FoundTweak, with: String)] = []
    private var messages: Set<String> = []
    /// The gates of all images, which a tweak of a later one may be below.
    private var gates: [(path: String, gate: Gate)] = []

    init(_ findings: Findings) { self.findings = findings }

    func add(_ image: ImageDump, isShownEmpty: Bool) -> Bool {
        let isInvalid = image.forEachTweak {
            findings.write(Finding(.invalidRecord, path: image.path, message: "\($0)"))
        } _: { tweak in
            let found = FoundTweak(path: image.path, declaration: tweak.declaration)
            check(found)
            if tweak.declaration.type != .action, image.isUnread(at: tweak.place) {
                let message =
                    "\(found.declaration.key): no code reads the record at \(found.location), so setting the tweak does "
                    + "nothing there; \(TweakDeclaration.reasonWhyUnread)"
                add(Finding(.unreadRecord, found, message: message))
            }
            if !image.isUTF8(at: tweak.place) {
                let message = "\(found.declaration.key): a text is not UTF-8"
                add(Finding(.notUTF8, found, message: message))
            }
        }
        let (gates, errors) = image.gates()
        for error in errors {
            findings.write(Finding(.invalidRecord, path: image.path, message: "\(error)"))
        }
        for gate in gates { check(gate, image.path) }
        image.forEachUnknownRecord { offset, version, kind in
            let what = version == RecordLayout.version ? "kind \(kind)" : "version \(version)"
            let message = "record at offset \(offset): unknown \(what), which programs ignore"
            findings.write(Finding(.unknownRecord, path: image.path, message: message))
        }
        return isInvalid || !errors.isEmpty
    }

    /// Changes wait only in the first of several gates, which another loop may pass.
    private func check(_ gate: Gate, _ path: String) {
        defer { gates.append((path, gate)) }
        guard let first = gates.first(where: { $0.path == path && $0.gate.name == gate.name })?.gate else {
            return
        }
        let places = [first, gate].map { $0.location ?? path }
        add(
            Finding(
                .severalGates, gate, path, locations: places,
                message: "\(gate.name): a gate at \(places[0]) and at \(places[1]); the first one is used"))
    }

    private func checkGates() {
        for (path, gate) in gates where !first.keys.contains(where: gate.name.contains) {
            let message = "\(gate.name): no tweak is below the gate at \(gate.location ?? path)"
            add(Finding(.idleGate, gate, path, message: message))
        }
    }

    func addUnusable(_ section: UnusableSection, of image: ImageDump) {
        findings.write(Finding(.unusableSection, path: image.path, message: "\(section)"))
    }

    private func check(_ tweak: FoundTweak) {
        let (key, declaration) = (tweak.declaration.key, tweak.declaration)
        if let first = first[key] { return compare(tweak, with: first) }
        checkOptions(tweak)
        var kept = declaration
        kept.attributes.removeAll { !Self.kept.contains($0.key) }
        let found = FoundTweak(path: tweak.path, declaration: kept)
        first[key] = found
        if let pair = declaration.pair { paired.append((found, with: pair)) }
        compareSpelling(found)
        if !declaration.isMonitor, !declaration.admitsDefault {
            let message =
                "\(key): the default \(declaration.defaultValue.quoted) is not allowed; "
                + "allowed: \(declaration.allowed)"
            add(Finding(.defaultNotAllowed, tweak, message: message))
        }
        if let warning = declaration.expiryWarning(on: today) {
            add(Finding(.expired, tweak, message: warning))
        }
        if declaration.description == nil {
            add(Finding(.noDescription, tweak, message: "\(key): it has no description"))
        }
    }

    /// Compilers report these, but other tools may write records too.
    private func checkOptions(_ tweak: FoundTweak) {
        let declaration = tweak.declaration
        for option in TweakOption.all {
            guard let allowed = option.allowed, option.setting(declaration) == nil,
                let given = declaration.attributes.first(where: { $0.key == option.attribute })
            else { continue }
            let message =
                "\(declaration.key): the \(option.title) \(TweakValue.string(given.value).quoted) is ignored; "
                + "allowed: \(allowed)"
            add(Finding(.ignoredOption, tweak, message: message))
        }
    }

    /// A pad needs two settable numbers.
    private func checkPairs() {
        for (tweak, pair) in paired {
            let key = tweak.declaration.key
            let other = first[TweakKey(key.category, key.collection, pair)]?.declaration
            if let other, pair != key.name, other.type.isNumeric, !other.isReadOnly, other.choices.isEmpty {
                continue
            }
            let message =
                "\(key): the pair \(TweakValue.string(pair).quoted) is ignored; "
                + "allowed: another number of the collection, which can be set"
            add(Finding(.ignoredOption, tweak, message: message))
        }
    }

    private func compare(_ tweak: FoundTweak, with first: FoundTweak) {
        let key = tweak.declaration.key
        let locations = [first.location, tweak.location]
        if !first.declaration.agrees(with: tweak.declaration) {
            let message = "\(key): declared differently at \(locations[0]) and at \(locations[1])"
            add(Finding(.differentDeclarations, tweak, locations: locations, message: message))
        } else if tweak.declaration.isMonitor, locations[0] != locations[1] {
            let message =
                "\(key): a monitor is stored at \(locations[0]) and at \(locations[1]); the first one is used"
            add(Finding(.severalMonitors, tweak, locations: locations, message: message))
        }
    }

    private func compareSpelling(_ tweak: FoundTweak) {
        let key = tweak.declaration.key
        guard let other = firstSpellings.updateValue(tweak, forKey: key.withoutCaseAndBlanks) else { return }
        firstSpellings[key.withoutCaseAndBlanks] = other
        let message =
            "\(key): differs from \(other.declaration.key) at \(other.location) only in case or spaces"
        add(Finding(.similarNames, tweak, locations: [other.location, tweak.location], message: message))
    }

    /// A declaration in a header is in many objects.
    private func add(_ finding: Finding) {
        if messages.insert(finding.message).inserted { findings.write(finding) }
    }

    func finish() {
        checkPairs()
        checkGates()
        findings.finish()
    }
}

extension TweakKey {
    fileprivate var withoutCaseAndBlanks: String {
        var text = ""
        text.unicodeScalars.append(
            contentsOf: description.lowercased().unicodeScalars.filter { !$0.properties.isWhitespace })
        return text
    }
}

/// Reports every record, and code that makes tweaks at run time, because releases must contain none.
final class Forbid: Report {
    private(set) var findings: Findings

    init(_ findings: Findings) { self.findings = findings }

    func add(_ image: ImageDump, isShownEmpty: Bool) -> Bool {
        let isInvalid = image.forEachTweak {
            findings.write(Finding(.forbiddenRecord, path: image.path, message: "\($0)"))
        } _: { tweak in
            let found = FoundTweak(path: image.path, declaration: tweak.declaration)
            let place = found.declaration.location == nil ? "" : ", declared at \(found.location)"
            findings.write(Finding(.forbiddenRecord, found, message: "\(found.declaration.key)\(place)"))
        }
        for gate in image.gates().gates {
            let place = gate.location.map { ", declared at \($0)" } ?? ""
            findings.write(
                Finding(.forbiddenRecord, gate, image.path, message: "the gate \(gate.name)\(place)"))
        }
        image.forEachUnknownRecord { offset, version, kind in
            let message = "record at offset \(offset) of version \(version) and kind \(kind)"
            findings.write(Finding(.forbiddenRecord, path: image.path, message: message))
        }
        if image.usesStore {
            let message = "code that uses the tweaks of the process, such as some made at run time"
            findings.write(Finding(.forbiddenRecord, path: image.path, message: message))
        }
        return isInvalid
    }

    func addUnusable(_ section: UnusableSection, of image: ImageDump) {
        findings.write(Finding(.forbiddenRecord, path: image.path, message: "\(section)"))
    }

    func finish() { findings.finish() }
}
