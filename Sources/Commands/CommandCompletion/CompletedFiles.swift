// SPDX-License-Identifier: BSD-3-Clause
internal import ArgumentParser
internal import CommandSupport
internal import Glibc
internal import TweakSystem

/// The paths that a word may become, sorted. Directories end with a slash.
///
/// - Parameters:
///   - word: The beginning of a path.
///   - isOffered: Returns whether a path that is not a directory is offered.
package func paths(beginning word: String, _ isOffered: (String) -> Bool) -> [String] {
    let directory = resolvedPath("", relativeTo: word)
    let beginning = word.unicodeScalars.dropFirst(directory.unicodeScalars.count)
    let names = directoryEntries(directory.isEmpty ? "." : directory).filter { name in
        guard name.unicodeScalars.starts(with: beginning), name != ".", name != ".." else { return false }
        return name.hasPrefix(".") == (beginning.first == ".")
    }
    return names.sorted().compactMap { name in
        // A command would take it for an option.
        let path = (directory.isEmpty && name.hasPrefix("-") ? "./" : directory) + name
        if stat(path: path)?.isDirectory == true { return path + "/" }
        return isOffered(path) ? path : nil
    }
}

/// Executable files and directories that begin with a text.
package func executables(_ prefix: String) -> [Candidate] {
    let found = paths(beginning: prefix) { isAccessible($0, X_OK) }
    // A shell adds a space after the only candidate, but a directory is not yet the program.
    if let only = found.first, found.count == 1, only.hasSuffix("/"), only != prefix {
        return executables(only)
    }
    return found.map { Candidate($0) }
}

/// The lines for the completion script where a file or a directory is expected. Lines that begin with `---` make the
/// shell complete files itself.
///
/// - Parameter suffixes: The suffixes of offered files; empty for all files, `nil` for directories only.
func completeFiles(suffixes: [String]?, _ typed: TypedWord) -> [String] {
    switch (completingShell, suffixes) {
    case (.zsh, nil): return ["---directories"]
    case (.zsh, let suffixes?): return [(["---files"] + suffixes.map { "*" + $0 }).joined(separator: " ")]
    case (.fish, []?): return ["---files"]
    default: break
    }
    let home = typed.typed.hasPrefix("~/") ? environment("HOME") : nil
    let word = home.map { $0 + String(typed.text.dropFirst()) } ?? typed.text
    let found = paths(beginning: word) { path in
        suffixes.map { $0.isEmpty || $0.contains(where: path.hasSuffix) } == true && isAccessible(path)
    }
    return found.compactMap { path in
        Candidate(home.map { "~" + String(path.dropFirst($0.count)) } ?? path).line(typed)
    }
}
