// SPDX-License-Identifier: BSD-3-Clause
package import CommandSupport
internal import TweakCompilation
internal import TweakELF
internal import TweakMemory
internal import TweakOverrides
package import TweakRecords
internal import TweakSystem

/// The executable of a program, running or not, for commands that examine the file.
package struct ProgramFile {
    /// The path to read it from. The file of a process may have been replaced.
    package let path: String
    /// The path for people.
    package let shownPath: String
    /// The process id; `nil` if another name was given.
    private var pid: Int32?

    private init(path: String, shownPath: String) { (self.path, self.shownPath) = (path, shownPath) }

    /// The executable with a name: a process id, a path, the name of a running program or that of one on the search path.
    package init(named name: String) throws(Failure) {
        if !name.isEmpty, name.allSatisfy({ $0.isASCII && $0.isNumber }) {
            guard let executable = executablePath(of: name) else {
                throw Failure(
                    "\(name): no such process, or it belongs to another user", .unavailable)
            }
            (path, shownPath, pid) = ("/proc/\(name)/exe", executable, Int32(name))
            return
        }
        if isPath(name) {
            path = realPath(name) ?? name
        } else if let running = ProcessEntry.all.lazy.compactMap(\.executable)
            .first(where: { lastComponent(of: $0) == name })
        {
            path = running
        } else {
            guard let found = try? findExecutable(named: name) else {
                throw Failure(
                    "\(name): no program of this name is running, and no such file exists", .missing)
            }
            path = realPath(found) ?? found
        }
        shownPath = path
    }

    /// The executable and its libraries: of a process those that it has loaded, of a file those that it would be started
    /// with.
    package var images: [ProgramFile] {
        if let pid {
            let libraries = ProcessScan.mappedFiles(of: pid).filter { $0 != shownPath }
            return [self] + libraries.map { ProgramFile(path: "/proc/\(pid)/root" + $0, shownPath: $0) }
        }
        let libraries = (try? ELFFile(path: path).neededLibraries()) ?? []
        return [self] + libraries.map { ProgramFile(path: $0.path, shownPath: realPath($0.path) ?? $0.path) }
    }

    /// Whether the file has its debug information itself, as those that were built here have.
    package var hasDebugInformation: Bool {
        var hasInformation = false
        try? ELFFile(path: path).forEachObject { (object) throws(ELFError) in
            hasInformation = try object.hasDebugInformation()
        }
        return hasInformation
    }

    /// The name of the application, which its files have.
    package func application(warn: (Warning) -> Void) throws(Failure) -> String {
        var declared: [String] = []
        try failing {
            try ELFFile(path: path).forEachObject { (object) throws(ELFError) in
                if let name = try object.application() { declared.append(name) }
            }
        }
        return ApplicationName.first(
            environment: nil, declared: declared, executable: shownPath, problem: { warn(Warning($0)) })
    }
}

/// The tweaks and monitors of an executable or library.
package struct ImageCells {
    /// The path for people.
    package let path: String
    package let buildID: String?
    package let byteOrder: ByteOrder
    /// The tweaks and monitors in the order of their records, with the addresses of their values in the file; `nil` for a
    /// value that is elsewhere.
    package fileprivate(set) var cells: [(tweak: TweakDeclaration, address: UInt64?)] = []
}

extension ProgramFile {
    /// The tweaks and monitors of the executable and of its libraries that have some. Libraries that it needs come first,
    /// in the order in which they are found for the executable; then those that a process has loaded otherwise.
    package func cellsOfImages() throws(Failure) -> [ImageCells] {
        let needed = ((try? ELFFile(path: shownPath).neededLibraries()) ?? []).map {
            realPath($0.path) ?? $0.path
        }
        let libraries = images.dropFirst()
        let found = needed.compactMap { path in libraries.first { $0.shownPath == path } }
        let others = libraries.filter { !needed.contains($0.shownPath) }
        var images = try cells.map { [$0] } ?? []
        for library in found + others {
            if let image = try? library.cells, !image.cells.isEmpty { images.append(image) }
        }
        return images
    }

    /// The tweaks and monitors of this file; `nil` if it is an archive without objects.
    private var cells: ImageCells? {
        get throws(Failure) {
            var image: ImageCells?
            try failing {
                try ELFFile(path: path).forEachObject { (object) throws(ELFError) in
                    var cells = ImageCells(
                        path: shownPath, buildID: try object.buildID()?.hexadecimal,
                        byteOrder: object.byteOrder)
                    try object.forEachCell { cells.cells.append(($0, $1)) }
                    image = cells
                }
            }
            return image
        }
    }
}
