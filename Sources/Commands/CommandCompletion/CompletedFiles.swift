internal import CommandSupport
internal import Glibc
internal import TweakSystem

/// The paths that a word may become, sorted. Those of directories end with a slash.
///
/// - Parameters:
///   - word: The beginning of a path.
///   - isOffered: Whether a path that leads to no directory is one of them.
package func paths(beginning word: String, _ isOffered: (String) -> Bool) -> [String] {
    let directory = word.lastIndex(of: "/").map { String(word[...$0]) } ?? ""
    let beginning = word.dropFirst(directory.count)
    let names = directoryEntries(directory.isEmpty ? "." : directory).filter { name in
        guard name.hasPrefix(beginning), name != ".", name != ".." else { return false }
        return name.hasPrefix(".") == beginning.hasPrefix(".")
    }
    return names.sorted().compactMap { name in
        // A command would take it for an option.
        let path = (directory.isEmpty && name.hasPrefix("-") ? "./" : directory) + name
        if stat(path: path)?.isDirectory == true { return path + "/" }
        return isOffered(path) ? path : nil
    }
}

/// What bash offers where the parser of the command line has it complete a file or a directory.
///
/// - Parameters:
///   - action: The options with which the generated script calls `compgen`.
///   - typed: The word.
func completeFiles(_ action: [String], _ typed: TypedWord) -> [String] {
    // As in `-o plusdirs -fX '!*.@(json|plist)'`.
    let suffixes = action.last.flatMap { pattern in
        pattern.hasPrefix("!*.@(")
            ? pattern.dropFirst(5).dropLast().split(separator: "|").map { ".\($0)" } : nil
    }
    let home = typed.typed.hasPrefix("~/") ? environment("HOME") : nil
    let word = home.map { $0 + String(typed.text.dropFirst()) } ?? typed.text
    let found = paths(beginning: word) { path in
        guard action.first != "-d", isAccessible(path) else { return false }
        return suffixes.map { $0.contains(where: path.hasSuffix) } ?? true
    }
    return found.filter { printable($0) == $0 }
        .compactMap { path in typed.completed(to: home.map { "~" + String(path.dropFirst($0.count)) } ?? path)
        }
}
