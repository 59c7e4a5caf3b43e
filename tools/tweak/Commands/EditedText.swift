// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Glibc
import TweakClient
import TweakRecords
import TweakSystem

/// A text in a temporary file, for an editor.
struct EditedText {
    let path: String
    private let directory: String
    /// The text that the editor is given.
    let original: [UInt8]
    /// The time in which nobody reads a text, starts to edit it, and gives up. An editor that returns earlier may have
    /// passed the file to another process.
    private static let shortestEdit: Duration = .seconds(2)

    /// Writes the file, readable by the user only.
    init(_ text: String) throws(Failure) {
        original = Array(text.utf8)
        var template = Array("\(environment("TMPDIR") ?? "/tmp")/tweak-XXXXXX".utf8CString)
        let isMade = mkdtemp(&template) != nil
        directory = String(decoding: template.dropLast().map(UInt8.init(truncatingIfNeeded:)), as: UTF8.self)
        guard isMade else {
            throw Failure("cannot make directory \(directory): \(systemMessage())", .cannotCreate)
        }
        path = directory + "/overrides.json"
        try failing { try FileReplacement.replace(path, with: original, permissions: 0o600) }
    }

    /// Runs the editor.
    ///
    /// - Returns: A hint for the user if the editor seems not to wait for its window; `nil` if it has done its work.
    func edit() throws(Failure) -> String? {
        let editor = environment("VISUAL") ?? environment("EDITOR") ?? Self.usualEditor
        let start = ContinuousClock.now
        // system(3) ignores Ctrl-C in this process.
        guard system("\(editor) \(path.shellQuoted)") != 0 else {
            let option = Self.optionToWait(of: editor)
            guard .now - start < Self.shortestEdit, try read() == original, !editor.hasSuffix(option) else {
                return nil
            }
            return """
                the text is unchanged; a graphical editor needs an option to wait, \
                such as EDITOR="\(editor) \(option)"
                """
        }
        let message = "the editor failed, and nothing was set"
        guard try read() == original else { throw Failure(message, details: [whereItIs], .failed) }
        remove()
        throw Failure(message, .failed)
    }

    private static func optionToWait(of editor: String) -> String {
        switch lastComponent(of: String(editor.prefix { $0 != " " })) {
        case "gvim": "--nofork"
        case "gnome-text-editor": "--standalone"
        case "kate": "--block"
        case "mousepad": "--disable-server"
        default: "--wait"
        }
    }

    private static var usualEditor: String {
        (try? findExecutable(named: "sensible-editor")) == nil ? "vi" : "sensible-editor"
    }

    func read() throws(Failure) -> [UInt8] { try readInput(path) }

    /// A note for the user, when the file is kept.
    var whereItIs: String { "the text is kept in \(path)" }

    func remove() {
        unlink(path)
        rmdir(directory)
    }
}
