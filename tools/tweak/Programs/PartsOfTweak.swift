import CommandSupport
import Glibc
import TweakClient
import TweakSystem

/// The path of a program that is part of `tweak`, and one of its own because of what it brings with it.
///
/// - Parameters:
///   - also: Another place where it may be.
///   - missing: What to do if it is missing.
/// - Throws: ``Failure`` with `EX_UNAVAILABLE` if it is neither beside `tweak` nor in its `libexec`.
func partOfTweak(_ name: String, also: String? = nil, missing: String? = nil) throws(Failure) -> String {
    let directory = executablePath().map { $0.prefix(through: $0.lastIndex(of: "/") ?? $0.startIndex) } ?? ""
    let places = [directory + name, directory + "../libexec/tweaks/" + name]
    guard let path = (places + [also].compactMap(\.self)).first(where: { access($0, X_OK) == 0 }) else {
        throw Failure(
            "\(name), which is part of tweak, is missing; it is looked for as \(places.joined(separator: " and "))"
                + (missing.map { "; " + $0 } ?? ""),
            EX_UNAVAILABLE)
    }
    return path
}

/// Becomes such a program.
///
/// - Parameters:
///   - count: How many arguments of the command line, the name of this command included, it does not get.
///   - option: The option with which `tools/install` installs it.
/// - Throws: ``Failure``; otherwise this does not return.
func becomePart(_ name: String, dropping count: Int, installedBy option: String) throws(Failure) {
    let path = try partOfTweak(
        name, also: pathInSearchPath(of: name), missing: "tools/install \(option) installs it")
    fflush(nil)
    for descriptor in reservedDescriptors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    // As bytes.
    let arguments = Array(argumentBytes.dropFirst(count))
    path.withCString { first in
        _ = execv(path, [UnsafeMutablePointer(mutating: first)] + arguments + [nil])
    }
    throw Failure("\(path): it cannot be executed: \(systemMessage())", EX_OSERR)
}
