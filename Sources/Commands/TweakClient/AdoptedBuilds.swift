// SPDX-License-Identifier: BSD-3-Clause
package import CommandSupport
package import Glibc
internal import TweakELF
package import TweakMemory
package import TweakOverrides
internal import TweakProtocol
package import TweakRecords
internal import TweakSystem

extension AdoptedBuilds {
    /// The adopted variables of an application; none if they cannot be read.
    package static func load(of application: String, _ warn: (Warning) -> Void) -> AdoptedBuilds {
        do throws(OverridesError) {
            return try AdoptedFile(application: application).load()
        } catch .noDirectory {
            return AdoptedBuilds()
        } catch {
            warn("\(error)")
            return AdoptedBuilds()
        }
    }

    /// Whether variables of any application have been adopted.
    static var areThere: Bool {
        // The files of an application are in a folder with its name.
        guard let own = try? OverridesFile(application: "any").directory else { return false }
        let folder = containingFolder(of: own)
        return directoryEntries(folder).contains { isAccessible("\(folder)/\($0)/\(AdoptedFile.name)") }
    }

    /// Returns whether variables of a program have been adopted, of whichever build.
    static func areThere(for executable: String) -> Bool {
        !load(of: lastComponent(of: executable)) { _ in }.builds.isEmpty
    }

    /// The names of the variables of an executable and its libraries, by their tweaks.
    package func variables(of path: String) -> [TweakKey: String] {
        guard !builds.isEmpty else { return [:] }
        let variables = buildIdentities(of: path).flatMap { self[$0] ?? [] }
        return Dictionary(variables.map { ($0.tweak.declaration.key, $0.variable) }) { first, _ in first }
    }

    /// The names of the variables that a running executable or its libraries may have: those of its other builds are not
    /// in it.
    func names(in executable: String, buildID: String?) -> Set<TweakKey> {
        Set(
            builds.filter { $0.buildID == buildID || $0.program != executable }
                .flatMap(\.variables).map(\.tweak.declaration.key))
    }

    var imageVariables: [ImageVariable] {
        builds.flatMap { build in
            build.variables.map {
                ImageVariable($0.tweak.declaration, address: $0.address, buildID: build.buildID)
            }
        }
    }

    /// The tweaks of an executable that does not run, and of its libraries. If variables of another build were adopted, it says so.
    func declarations(
        of path: String, besides declared: [TweakDeclaration], _ warn: (Warning) -> Void
    ) -> [TweakDeclaration] {
        guard !builds.isEmpty else { return [] }
        if buildIdentity(of: path).flatMap({ self[$0] }) == nil,
            builds.contains(where: { $0.program == path })
        {
            warn(
                "\(path): it was rebuilt since variables were adopted; look them up with tweak adopt --renew")
        }
        var keys = Set(declared.map(\.key))
        return buildIdentities(of: path).flatMap { self[$0] ?? [] }.map(\.tweak.declaration)
            .filter { keys.insert($0.key).inserted }
    }
}

extension AdoptedFile {
    /// Has the running programs with an executable read the file again. A program with an older library does so at its
    /// next start.
    ///
    /// - Parameter warn: Called with the reasons why programs ignore the file.
    package static func notify(_ executable: String, _ warn: (Warning) -> Void) {
        for running in RunningProgram.all() where running.executable == executable {
            do throws(ConnectionError) {
                _ = try Connection(to: running, .short).ask(ReadAdopted())
            } catch .answer(let error) where error.code == .internalError {
                warn("\(running.title): \(error.message)")
            } catch {}
        }
    }
}

extension ProcessScan {
    /// Returns whether a process has tweaks or adopted variables in its memory, and not the library.
    package mutating func hasTweaksInMemory(_ pid: pid_t, executable: String) -> Bool {
        switch content(of: pid) {
        case .tweaks: true
        case .nothing: AdoptedBuilds.areThere(for: executable)
        case .library, nil: false
        }
    }
}
