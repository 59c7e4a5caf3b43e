// SPDX-License-Identifier: BSD-3-Clause
package import CommandSupport
internal import CTweakSystem
internal import Glibc
internal import TweakELF
package import TweakRecords
internal import TweakSystem

/// The arrangements to start a program with the library.
package struct ProgramStart {
    /// The file to execute.
    package let path: String
    /// The declarations of the program and its libraries; `nil` if they are not known, as for a script.
    package let declarations: [TweakDeclaration]?
    /// The libraries to preload; empty if the program links the library.
    package let preloaded: [String]

    /// Finds out how to start a program.
    ///
    /// - Parameters:
    ///   - name: A path, or a name to look up as a shell does.
    ///   - library: The path of the library; `nil` for the one installed with this command.
    ///   - takesValues: Whether the program must read values from its environment.
    ///   - warn: Called with what cannot be determined.
    /// - Throws: ``Failure`` if there is no such program, or if it cannot load the library.
    package init(
        of name: String, library: String?, takesValues: Bool, warn: (Warning) -> Void
    ) throws(Failure) {
        do throws(ProgramSearchError) { path = try findExecutable(named: name) } catch {
            switch error {
            case .notFound: throw Failure("\(name): no such program", .notFound)
            case .notExecutable(let reason): throw Failure(reason, .notExecutable)
            }
        }
        let script = Script(path: path)
        // The interpreter of a script loads the library; its own declarations are irrelevant.
        let loaded = script?.interpreter ?? path
        let title = script == nil ? path : "\(path): its interpreter \(loaded)"
        var declarations: [TweakDeclaration]?
        var program: LoadedProgram?
        var needed: (library: Bool, first: String?) = (false, nil)
        do throws(ELFError) {
            if script == nil { declarations = try OfflineProgram.declarations(of: path, warn) }
            program = try LoadedProgram(path: loaded)
            needed = try program?.needed() ?? needed
        } catch .notELF {
            // The kernel knows further formats.
        } catch {
            warn("\(error); its tweaks are unknown")
        }
        self.declarations = declarations
        if takesValues || !needed.library, fbtweak__gains_rights(loaded) {
            throw Failure(
                "\(title) runs with more rights than its user (setuid, setgid or file capabilities), so it "
                    + "takes neither a library nor values from the environment", .unavailable)
        }
        guard !needed.library else {
            preloaded = []
            return
        }
        if let problem = program?.problem { throw Failure("\(title) \(problem)", .unavailable) }
        let path = try Self.library(library, for: program, title)
        preloaded = [needed.first, path].compactMap { $0 }
    }

    /// The reason why no library of this machine can be loaded into a program; `nil` if it has the library, or one can be,
    /// and for a file that is no program.
    static func obstacle(toLibraryIn path: String) -> String? {
        guard let program = try? LoadedProgram(path: path), program.isProgram,
            (try? program.needed())?.library == false,
            let own = try? LoadedProgram(path: executablePath() ?? "/proc/self/exe")
        else { return nil }
        guard program.machine == own.machine else {
            let isInstalled = installedLibraries.contains {
                guard let library = try? LoadedProgram(path: $0) else { return false }
                return library.hasLibrary && library.machine == program.machine
            }
            if isInstalled { return nil }
            return program.machine.usesMusl
                ? "is for musl, and no library for musl is installed"
                : "is for \(program.machine.name), and this machine is \(own.machine.name)"
        }
        return program.problem
    }

    // MARK: The library

    /// The path of the library for a program.
    private static func library(
        _ named: String?, for program: LoadedProgram?, _ title: String
    ) throws(Failure) -> String {
        let reference = try failing {
            try program ?? LoadedProgram(path: executablePath() ?? "/proc/self/exe")
        }
        if let named, try !failing({ try LoadedProgram(path: named).hasLibrary }) {
            throw Failure("\(named): it is not the Tweaks library", .invalid)
        }
        var others: [String] = []
        for path in named.map({ [absolutePath($0)] }) ?? installedLibraries {
            guard let candidate = try? LoadedProgram(path: path), candidate.hasLibrary else { continue }
            guard candidate.machine == reference.machine else {
                others.append(candidate.machine.name)
                continue
            }
            guard !path.utf8.contains(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: " ") }) else {
                throw Failure(
                    "\(path): the dynamic linker cannot preload a path that contains a space or a colon",
                    .unavailable)
            }
            return path
        }
        guard let other = others.first else {
            throw Failure(
                "\(librarySoname) was not found beside this command; give its path with --library",
                .unavailable)
        }
        throw Failure(
            "\(title) is for \(reference.machine.name), and the library for \(other)", .unavailable)
    }

    /// The program may start others elsewhere. A symbolic link is kept, so that the library is found after an update
    /// too.
    private static func absolutePath(_ path: String) -> String {
        path.hasPrefix("/") ? path : (realPath(".") ?? "") + "/" + path
    }

    /// The places of the library: beside this command, then elsewhere on the system, for any machine.
    private static var installedLibraries: [String] {
        let own = executablePath().flatMap { realPath(resolvedPath("..", relativeTo: $0)) }
        let prefixes = [own, "/usr/local", "/usr"].compactMap { $0 }
        return prefixes.flatMap { (prefix: String) -> [String] in
            let folders = ["lib", "lib64"] + directoryEntries(prefix + "/lib").sorted().map { "lib/" + $0 }
            return folders.map { "\(prefix)/\($0)/\(librarySoname)" }.filter { access($0, F_OK) == 0 }
        }
    }

    /// Returns whether an entry of `LD_PRELOAD` is the library.
    package static func isLibrary(_ entry: Substring) -> Bool {
        lastComponent(of: String(entry)).hasPrefix("libtweaks.so")
    }
}

/// The first line of a script.
private struct Script {
    /// The program that the kernel executes to run the script.
    let interpreter: String

    /// `nil` if the file is not a script or cannot be read. An interpreter may be a script too.
    init?(path: String) {
        var path = path
        // The kernel follows as many levels.
        for depth in 0...5 {
            guard let next = Self.interpreter(of: path) else {
                guard depth > 0 else { return nil }
                break
            }
            path = next
        }
        interpreter = path
    }

    private static func interpreter(of path: String) -> String? {
        let descriptor = openFile(path, O_RDONLY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // The kernel reads as much.
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = read(descriptor, &bytes, bytes.count)
        guard count > 2, bytes.starts(with: Array("#!".utf8)) else { return nil }
        func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        let name = bytes[2..<count].drop(while: isBlank).prefix {
            !isBlank($0) && $0 != UInt8(ascii: "\n") && $0 != 0
        }
        return name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
    }
}

/// The loading information of an ELF file.
private struct LoadedProgram {
    /// A processor with a C library.
    struct Machine: Equatable {
        let architecture: String
        let is64Bit: Bool
        let usesMusl: Bool

        var name: String { architecture + (usesMusl ? " with musl" : "") }
    }

    private let file: ELFFile
    private(set) var machine = Machine(architecture: "", is64Bit: false, usesMusl: false)
    /// Whether this file contains the library.
    private(set) var hasLibrary = false
    private var dynamicLinker: String?
    /// Whether it can be executed: no object file, and no library.
    private(set) var isProgram = false

    init(path: String) throws(ELFError) {
        file = try ELFFile(path: path)
        try file.forEachObject { (object) throws(ELFError) in
            machine = Machine(
                architecture: object.architecture, is64Bit: object.is64Bit, usesMusl: try object.usesMusl())
            hasLibrary = try object.hasLibrary()
            dynamicLinker = try object.dynamicLinker()
            isProgram = object.isLinked && object.hasEntry
        }
    }

    /// The library to load first, and whether the program loads our library anyway.
    func needed() throws(ELFError) -> (library: Bool, first: String?) {
        var (library, first) = (hasLibrary, nil as String?)
        for file in try file.neededLibraries() {
            try file.forEachObject { (object) throws(ELFError) in
                if try object.hasLibrary() { library = true }
            }
            // AddressSanitizer ends a program in which another library is loaded before it.
            if lastComponent(of: file.path).hasPrefix("libasan.so") { first = file.path }
        }
        return (library, first)
    }

    /// The reason why nothing can be loaded into the program.
    var problem: String? {
        guard let dynamicLinker else {
            return "is statically linked, so no dynamic linker can load the library"
        }
        // The names in glibc: https://sourceware.org/glibc/wiki/ABIList
        let name = lastComponent(of: dynamicLinker)
        let known = ["ld-linux", "ld64.so", "ld.so"]
        guard !machine.usesMusl, !known.contains(where: name.hasPrefix) else { return nil }
        return "is loaded by \(dynamicLinker), but the library needs the dynamic linker of glibc or musl"
    }
}
