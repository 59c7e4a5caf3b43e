package import CommandSupport
internal import CTweakSystem
internal import Glibc
internal import TweakELF
package import TweakRecords
internal import TweakSystem

/// How a program is started so that it has the library.
package struct ProgramStart {
    /// What is executed.
    package let path: String
    /// What the program and the libraries that it needs declare; `nil` if that is not known, as of a script.
    package let declarations: [TweakDeclaration]?
    /// What the dynamic linker has to load before the program; nothing if the program has the library by itself.
    package let preloaded: [String]

    /// Finds out how to start a program.
    ///
    /// - Parameters:
    ///   - name: Its path, or a name that is looked for as a shell does.
    ///   - library: The path of the library; `nil` for the one that was installed with this command.
    ///   - takesValues: Whether it has to read what its environment says.
    ///   - warn: Is told what cannot be known.
    /// - Throws: ``Failure`` if there is no such program, or if it cannot have the library.
    package init(
        of name: String, library: String?, takesValues: Bool, warn: (String) -> Void
    ) throws(Failure) {
        do throws(ProgramSearchError) { path = try findExecutable(named: name) } catch {
            switch error {
            case .notFound: throw Failure("\(name): there is no such program", .notFound)
            case .notExecutable(let reason): throw Failure(reason, .notExecutable)
            }
        }
        let script = Script(path: path)
        // Of a script the interpreter is loaded, and what that declares is not what the script is about.
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
            // What else the kernel executes it knows itself.
        } catch {
            warn("\(error); what it declares is not known")
        }
        self.declarations = declarations
        if takesValues || !needed.library, fbtweak__gains_rights(loaded) {
            throw Failure(
                "\(title) has more rights than its user (setuid, setgid or capabilities of the file), so it takes "
                    + "neither a library nor values from the environment", .unavailable)
        }
        guard !needed.library else {
            preloaded = []
            return
        }
        if let problem = program?.problem { throw Failure("\(title) \(problem)", .unavailable) }
        let path = try Self.library(library, for: program, title)
        preloaded = [needed.first, path].compactMap { $0 }
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
            throw Failure("\(named): it is not the library of tweaks", .invalid)
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
                    "\(path): the dynamic linker loads nothing by a path with a blank or a colon",
                    .unavailable)
            }
            return path
        }
        guard let other = others.first else {
            throw Failure("\(librarySoname) is not beside this command; --library names it", .unavailable)
        }
        throw Failure(
            "\(title) is for \(reference.machine.name), and the library for \(other)", .unavailable)
    }

    /// The program may start others elsewhere. A link stays one, by which the library is found after an update too.
    private static func absolutePath(_ path: String) -> String {
        path.hasPrefix("/") ? path : (realPath(".") ?? "") + "/" + path
    }

    /// Where the library is if it was installed with this command, then elsewhere on the system, for any machine.
    private static var installedLibraries: [String] {
        let own = executablePath().flatMap { realPath(resolvedPath("..", relativeTo: $0)) }
        let prefixes = [own, "/usr/local", "/usr"].compactMap { $0 }
        return prefixes.flatMap { (prefix: String) -> [String] in
            let folders = ["lib", "lib64"] + directoryEntries(prefix + "/lib").sorted().map { "lib/" + $0 }
            return folders.map { "\(prefix)/\($0)/\(librarySoname)" }.filter { access($0, F_OK) == 0 }
        }
    }

    /// Whether an entry of `LD_PRELOAD` is the library.
    package static func isLibrary(_ entry: Substring) -> Bool {
        lastComponent(of: String(entry)).hasPrefix("libtweaks.so")
    }
}

/// The first line of a script.
private struct Script {
    /// What the kernel executes to run it.
    let interpreter: String

    /// `nil` if the file is not one, or cannot be read. An interpreter may be a script too.
    init?(path: String) {
        var path = path
        // As deep as the kernel follows them.
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
        // As much as the kernel reads.
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

/// What an ELF file says of how it is loaded.
private struct LoadedProgram {
    struct Machine: Equatable {
        let name: String
        let is64Bit: Bool
    }

    private let file: ELFFile
    private(set) var machine = Machine(name: "", is64Bit: false)
    /// Whether the library is in this file.
    private(set) var hasLibrary = false
    private var dynamicLinker: String?

    init(path: String) throws(ELFError) {
        file = try ELFFile(path: path)
        try file.forEachObject { (object) throws(ELFError) in
            machine = Machine(name: object.architecture, is64Bit: object.is64Bit)
            hasLibrary = try object.hasLibrary()
            dynamicLinker = try object.dynamicLinker()
        }
    }

    /// What has to be loaded before the library, and whether that will be loaded anyhow.
    func needed() throws(ELFError) -> (library: Bool, first: String?) {
        var (library, first) = (hasLibrary, nil as String?)
        for file in try file.neededLibraries() {
            try file.forEachObject { (object) throws(ELFError) in
                if try object.hasLibrary() { library = true }
            }
            // It ends a program in which another library is before it.
            if lastComponent(of: file.path).hasPrefix("libasan.so") { first = file.path }
        }
        return (library, first)
    }

    /// Why nothing can be loaded into it.
    var problem: String? {
        guard let dynamicLinker else {
            return "is linked statically: there is no dynamic linker that could load the library"
        }
        // Those of glibc: https://sourceware.org/glibc/wiki/ABIList
        let name = lastComponent(of: dynamicLinker)
        guard !["ld-linux", "ld64.so", "ld.so"].contains(where: name.hasPrefix) else { return nil }
        return "is loaded by \(dynamicLinker), and the library needs the dynamic linker of the GNU C library"
    }
}
